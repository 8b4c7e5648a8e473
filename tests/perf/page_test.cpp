// What the report's page is made of: units, axes, ratios.
#include <gtest/gtest.h>

#include <algorithm>

#include "report/page/summary.hpp"
#include "report/svg.hpp"
#include "report/units.hpp"

namespace keramos::perf {
namespace {

TEST(Units, FitTheMagnitude) {
  EXPECT_EQ(time_text(1.6236e-5), "16.2\u00a0µs");
  EXPECT_EQ(time_text(0.99999e-3), "1.00\u00a0ms");
  EXPECT_EQ(time_text(2.5), "2.50\u00a0s");
  EXPECT_EQ(time_text(3e-10), "0.3\u00a0ns");
  EXPECT_EQ(time_text(-2e-7), "-200\u00a0ns");
  EXPECT_EQ(time_text(0), "");
  EXPECT_EQ(rate_text(812.4), "812\u00a0GFLOP/s");
  EXPECT_EQ(rate_text(1240), "1.24\u00a0TFLOP/s");
  EXPECT_EQ(rate_text(0.05, "OP/s"), "50.0\u00a0MOP/s");
  EXPECT_EQ(rate_text(3830, "B/s"), "3.83\u00a0TB/s");
  EXPECT_EQ(bytes_text(1073741824), "1.00\u00a0GiB");
  EXPECT_EQ(hertz_text(1.98e9), "1.98\u00a0GHz");
  EXPECT_EQ(percent_text(0.0541), "5.4\u00a0%");
  EXPECT_EQ(percent_text(0.5443), "54\u00a0%");
}

TEST(Units, ComeFromTheNamesOfFigures) {
  const auto is = [](const named_text& got, const char* name, const char* text) {
    EXPECT_EQ(got.name, name);
    EXPECT_EQ(got.text, text);
  };
  is(named_figure("keramos_s", 5.58e-6), "keramos", "5.58\u00a0µs");
  is(named_figure("gflops", 1500, "i32"), "rate", "1.50\u00a0TOP/s");
  is(named_figure("attainable_gflops", 78.5, "f32"), "attainable", "78.5\u00a0GFLOP/s");
  is(named_figure("gbytes_per_s", 424), "bandwidth", "424\u00a0GB/s");
  is(named_figure("memory_intensity", 170.7, "i32"), "memory intensity", "171\u00a0OP/B");
  is(named_figure("device_clock_hz", 1.98e9), "device clock", "1.98\u00a0GHz");
  is(named_figure("cpus", 16), "cpus", "16");
}

TEST(Axis, CloseSizesAreSpreadApart) {
  const std::vector<double> sizes{64, 512, 1023, 1024, 1025, 4096};
  const auto at = axis_positions(sizes, true, 100, 500, 15);
  ASSERT_EQ(at.size(), sizes.size());
  EXPECT_DOUBLE_EQ(at.front(), 100);
  EXPECT_NEAR(at.back(), 500, 1e-6);
  for (std::size_t i = 1; i < at.size(); ++i) EXPECT_GE(at[i] - at[i - 1], 15 - 1e-9);
  EXPECT_NEAR((at[1] - at[0]) / (at[5] - at[4]), 1.5, 0.01);  // 8 and 4 times as large: logarithms
  // No room: all equally far apart.
  const auto tight = axis_positions(sizes, true, 0, 50, 15);
  for (std::size_t i = 0; i < tight.size(); ++i) EXPECT_NEAR(tight[i], 10 * double(i), 1e-6);
  EXPECT_EQ(axis_positions({7}, true, 0, 50, 15), std::vector<double>{25});
}

TEST(Styles, OneForEachLibraryEverywhere) {
  EXPECT_EQ(styles_of({"keramos", "openblas-0.3"})[1], styles_of({"openblas-0.4", "mkl"})[0]);
  auto styles =
      styles_of({"keramos", "cublas", "cublaslt", "blas", "kokkoskernels-native", "x", "y", "kokkos"});
  std::sort(styles.begin(), styles.end());
  EXPECT_EQ(styles, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(styles_of(std::vector<std::string>(20, "z")).size(), 20u);
}

TEST(Ratio, HasItsSpread) {
  result_row own, other;
  own.median_s = 2, own.iqr_s = 0.2, other.median_s = 3, other.iqr_s = 0;
  auto r = ratio_of(own, other);  // 10 % of one, none of the other
  EXPECT_DOUBLE_EQ(r.value, 1.5);
  EXPECT_NEAR(r.low, 1.5 / 1.05, 1e-12);
  EXPECT_NEAR(r.high, 1.5 * 1.05, 1e-12);
  // What slows a round slows both: their ratio does not vary.
  own.samples = {1, 2, 4}, other.samples = {1.5, 3, 6};
  r = ratio_of(own, other);
  EXPECT_DOUBLE_EQ(r.low, 1.5);
  EXPECT_DOUBLE_EQ(r.high, 1.5);
  EXPECT_EQ(ratio_text({1.084, 1.05, 1.1}), "1.08\u00a0(1.05–1.10)");
  EXPECT_EQ(ratio_text({101.49, 101.12, 101.86}), "101\u00a0(101–102)");
}

}  // namespace
}  // namespace keramos::perf

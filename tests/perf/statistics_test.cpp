#include "core/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.hpp"

namespace keramos::perf {
namespace {

TEST(Statistics, MedianMinAndQuartiles) {
  const auto odd = summarize({5, 1, 3, 2, 4});
  EXPECT_EQ(odd.count, 5);
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.min, 1);
  EXPECT_DOUBLE_EQ(odd.iqr, 2);
  const auto even = summarize({4, 1, 3, 2});  // quartiles 1.75 and 3.25
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.iqr, 1.5);
  const auto one = summarize({7});
  EXPECT_DOUBLE_EQ(one.median, 7);
  EXPECT_DOUBLE_EQ(one.iqr, 0);
  EXPECT_EQ(summarize({}).count, 0);
}

TEST(Random, UniformWithFullMantissas) {
  const random_stream stream(42, 1);
  double sum = 0;
  int odd_f32 = 0, odd_f64 = 0;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i) {
    const float f = stream.value<float>(i);
    const double d = stream.value<double>(i);
    ASSERT_GE(f, -0.5f);
    ASSERT_LT(f, 0.5f);
    ASSERT_GE(d, -0.5);
    ASSERT_LT(d, 0.5);
    sum += d;
    // The last bit of the mantissa is as often 1 as 0.
    int exponent;
    odd_f32 += static_cast<long>(std::ldexp(std::frexp(f, &exponent), 24)) & 1;
    odd_f64 += static_cast<long>(std::ldexp(std::frexp(d, &exponent), 53)) & 1;
  }
  EXPECT_NEAR(sum / n, 0, 0.005);
  EXPECT_NEAR(odd_f32, n / 2, n / 50);
  EXPECT_NEAR(odd_f64, n / 4, n / 4);  // multiples of 2^-53: full from 1/4 up
  EXPECT_NE(stream.bits(0), random_stream(42, 2).bits(0));
  EXPECT_NE(stream.bits(0), random_stream(43, 1).bits(0));
}

TEST(Repetitions, FewerOnlyWhereTheyTakeTooLong) {
  EXPECT_EQ(repetitions_within(10, 0.02, 7), 7);
  EXPECT_EQ(repetitions_within(1, 0.2, 7), 5);
  EXPECT_EQ(repetitions_within(0, 0.2, 7), 3);
  EXPECT_EQ(repetitions_within(0, 0.2, 2), 2);
  EXPECT_EQ(repetitions_within(1e9, 0.02, 7), 7);  // more than an int holds would fit
}

}  // namespace
}  // namespace keramos::perf

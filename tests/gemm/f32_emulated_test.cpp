// f32 as three products of tf32: correct wherever it is asked for, and how accurate where it is emulated.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "emulated_case.hpp"
#include "ops_and_layouts.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;
constexpr gemm_compute emulated = gemm_compute::f32_emulated;
constexpr tiling::shape blocks[] = {{128, 128, 32}, {64, 128, 32}};
constexpr float infinity = std::numeric_limits<float>::infinity();

/// Calls `f(options)` for each block tile that emulates here, and for none asked for: then the library chooses.
template <class F>
void for_tiles(const F& f) {
  f(gemm_options{.compute = emulated});
  for (const tiling::shape& block : blocks) {
    try {
      f(gemm_options{.block = block, .compute = emulated});
    } catch (const launch_error& e) {  // no such tile here, or too large for this Kokkos
      EXPECT_NE(std::string(e.what()).find(to_string(block)), std::string::npos) << e.what();
    }
  }
}

TEST(GemmF32Emulated, SizesOpsAndLayouts) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},    {7, 5, 3},    {33, 65, 17},   {128, 128, 64}, {129, 131, 33},
                              {200, 1, 90}, {1, 200, 31}, {300, 257, 32}, {130, 60, 1000}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  for (const auto& size : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T})
        for_tiles([&](const gemm_options& options) {
          gemm_case g{.m = size[0],
                      .n = size[1],
                      .k = size[2],
                      .op_a = a,
                      .op_b = b,
                      .alpha = 1.5,
                      .beta = double(rng() % 2)};
          g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
          g.gap = index_t(rng() % 5), g.offset = index_t(rng() % 5);
          g.block = options.block, g.compute = emulated;
          EXPECT_TRUE(run<float>(g, rng()));
        });
}

TEST(GemmF32Emulated, EveryOpAndLayout) {
  std::mt19937_64 rng(fresh_seed());
  for_ops_and_layouts([&](op op_a, op op_b, layout a, layout b, layout c) {
    gemm_case g{37, 45, 29, op_a, op_b, a, b, c, 3, 5, 1.5, 0.5};
    g.compute = emulated;
    EXPECT_TRUE(run<float>(g, rng()));
  });
}

TEST(GemmF32Emulated, InBandsAndCut) {
  if (on_host) return;  // it is f32 there, whose plans have tests
  for_tiles([](const gemm_options& options) {
    if (!options.block) return;
    gemm_case g{.m = 200, .n = 150, .k = 70, .gap = 3, .offset = 3, .beta = 1};
    g.block = options.block, g.compute = emulated;
    g.change_plan = [](gemm_plan& plan) {
      EXPECT_EQ(plan.type, "f32_emulated");
      pack_and_cut(plan);
    };
    EXPECT_TRUE(run<float>(g, fresh_seed()));
  });
}

TEST(GemmF32Emulated, IsOfFloats) {
  const stored_matrix<double> x(9, 9, layout::right, 0, 0), y(9, 9, layout::right, 0, 0);
  queue q;
  try {
    gemm(q, 1, x.view, x.view, 0, y.view, {.compute = emulated});
    FAIL() << "a product of doubles was emulated in f32";
  } catch (const invalid_argument& e) {
    EXPECT_STREQ(
        e.what(),
        "keramos::gemm: options.compute is f32_emulated, which is for matrices of float, but these are "
        "f64; pass gemm_compute::standard");
  }
  EXPECT_THROW(gemm(q, x.view, x.view, y.view, epilogue::relu(), {.compute = emulated}), invalid_argument);
  EXPECT_THROW(plan_gemm(q, x.view, x.view, y.view, epilogue::relu(), {.compute = emulated}),
               invalid_argument);
}

/// A·B of row-major m x k and k x n.
std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, index_t m, index_t n,
                           index_t k, const gemm_options& options) {
  return row_major_product<float>(a, b, m, n, k, [&](auto, auto, auto) { return options; });
}

/// An element of it in double.
double exact_element(const std::vector<float>& a, const std::vector<float>& b, index_t i, index_t j,
                     index_t n, index_t k) {
  return reference::product_element(reference::operand<float>{a.data(), k, 1},
                                    reference::operand<float>{b.data(), n, 1}, i, j, k)
      .value;
}

// An infinity times a number whose second part is 0 would be NaN; what is rounded up beyond the largest number, infinite.
TEST(GemmF32Emulated, NumbersThatAreNotFiniteAndLargeOnes) {
  const index_t m = 70, n = 66, k = 40;
  const float largest = std::numeric_limits<float>::max();
  std::vector<float> a(m * k, 1), b(k * n, 1);
  const float rows[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), largest, -largest, 0};
  for (int r = 0; r < 6; ++r) a[(10 * r + 3) * k + 5] = rows[r];
  for (index_t p = 0; p < k; ++p) a[33 * k + p] = p == 5 ? largest : 0;  // row 33: the largest alone
  for (index_t j = 0; j < n; ++j) b[5 * n + j] = j % 3 == 0 ? 1.f : j % 3 == 1 ? 0.f : -2.f;
  a[63 * k + 6] = 1e30f, b[6 * n + 11] = 1e30f;  // a product that is infinite in f32
  const auto is_right = [&](const std::vector<float>& c) {
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const float sum = float(exact_element(a, b, i, j, n, k));
        ASSERT_TRUE(is_near(c[i * n + j], sum, std::fabs(sum) * 1e-6f)) << i << ", " << j;
      }
  };
  for_tiles([&](const gemm_options& options) { is_right(product(a, b, m, n, k, options)); });
  // In bands, as where copies of the operands would take too much memory.
  is_right(row_major_product<float>(a, b, m, n, k, [](auto x, auto y, auto z) {
    gemm_options options{.block = tiling::shape{64, 128, 32}, .compute = emulated};
    try {
      queue q;
      gemm_plan plan = plan_gemm(q, x, y, z, options);
      bool in_bands = false;
      for (int p = 0; p < plan.size; ++p) {
        gemm_part& part = plan.parts[p];
        if (part.pack_a && part.pack_b) part.band_m = 32, part.band_n = 24, in_bands = true;
      }
      EXPECT_EQ(in_bands, plan.type == std::string("f32_emulated")) << to_string(plan);
      options.plan = plan;
    } catch (const launch_error&) {  // no such tile here
    }
    options.block.reset();
    return options;
  }));
}

/// The mean of |computed - exact| over C.
double mean_error(const std::vector<float>& c, const std::vector<double>& exact) {
  double sum = 0;
  for (std::size_t i = 0; i < c.size(); ++i) sum += std::fabs(c[i] - exact[i]);
  return sum / double(c.size());
}

// On data of several kinds, beside f32 in tiles that do not divide k. Where one product is most of a sum (the last kind), f32
// rounds once, and what splitting leaves out shows: up to 2^-21 of it. Where tensor cores do it, one of the three products
// alone (tf32) is far off: so the comparison would see a part that is left out.
TEST(GemmF32Emulated, IsNoLessAccurateThanF32) {
  const index_t m = 130, n = 140, k = 1500;
  std::mt19937_64 rng(fresh_seed());
  const auto kinds = kinds_of_numbers(rng, 4);
  for (const auto& random : kinds) {
    std::vector<float> a(m * k), b(k * n);
    for (float& x : a) x = float(random());
    for (float& x : b) x = float(random());
    std::vector<double> exact(m * n);
    for (index_t i = 0; i < m * n; ++i) exact[i] = exact_element(a, b, i / n, i % n, n, k);
    for_tiles([&](const gemm_options& options) {
      gemm_options in_f32;
      if (options.block) in_f32.block = on_host ? options.block : tiling::shape{128, 128, 16};
      const double of_f32 = mean_error(product(a, b, m, n, k, in_f32), exact);
      const auto c = product(a, b, m, n, k, options);
      const double error = mean_error(c, exact);
      const bool sums_of_few = &random == &kinds[3];
      EXPECT_LE(error, (sums_of_few ? 8 : 1) * of_f32)
          << "kind " << (&random - kinds.data()) << ", block "
          << (options.block ? to_string(*options.block) : "chosen");
      EXPECT_EQ(std::memcmp(c.data(), product(a, b, m, n, k, options).data(), c.size() * sizeof(float)), 0);
      if (options.block && !on_host) {
        const double of_tf32 = mean_error(product(a, b, m, n, k, {.compute = gemm_compute::tf32}), exact);
        EXPECT_GT(of_tf32, 20 * error) << "kind " << (&random - kinds.data());
        std::printf("mean errors of kind %d: f32 %.3g, f32_emulated %.3g, tf32 %.3g\n",
                    int(&random - kinds.data()), of_f32, error, of_tf32);
      }
    });
  }
}

// Where A's elements have eleven bits their rests are zero, and tf32 is emulation but for one product: that of A with the rests
// of B. Likewise with B. So either product is seen if it is left out.
TEST(GemmF32Emulated, EachProductWithARestIsSeen) {
  if (on_host) return;  // it is f32 there
  const index_t m = 130, n = 140, k = 1500;
  std::mt19937_64 rng(fresh_seed());
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto eleven_bits = [](float x) {
    int exponent = 0;
    const float mantissa = std::frexp(x, &exponent);
    return std::ldexp(std::rint(std::ldexp(mantissa, 11)), exponent - 11);
  };
  for (const bool of_a : {true, false}) {
    std::vector<float> a(m * k), b(k * n);
    for (float& x : a) x = float(uniform(rng));
    for (float& x : b) x = float(uniform(rng));
    for (float& x : of_a ? a : b) x = eleven_bits(x);
    std::vector<double> exact(m * n);
    for (index_t i = 0; i < m * n; ++i) exact[i] = exact_element(a, b, i / n, i % n, n, k);
    for_tiles([&](const gemm_options& options) {
      if (!options.block) return;
      const auto error_of = [&](const gemm_options& how) {
        return mean_error(product(a, b, m, n, k, how), exact);
      };
      const double error = error_of(options), of_f32 = error_of({.block = tiling::shape{128, 128, 16}}),
                   of_tf32 = error_of({.compute = gemm_compute::tf32});
      EXPECT_LE(error, of_f32) << (of_a ? "A" : "B");
      EXPECT_GT(of_tf32, 20 * error) << (of_a ? "A" : "B");
    });
  }
}

}  // namespace
}  // namespace keramos::test

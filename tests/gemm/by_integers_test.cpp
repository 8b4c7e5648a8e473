// Products of f64 and f32 by way of integers of eight bits, as the library does them on a device. residues_test.cpp has their
// arithmetic, on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "emulated_case.hpp"
#include "ops_and_layouts.hpp"
#include "product_cases.hpp"
#include "repeat_case.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;
template <class T>
constexpr gemm_compute emulated = sizeof(T) == 8 ? gemm_compute::f64_emulated : gemm_compute::f32_emulated;

/// A part of a plan that emulates by integers, as the library makes it for products so large that it pays; none where it
/// never does: on hosts, and on devices without tiles for it.
template <class T>
std::optional<gemm_part> part_by_integers() {
  queue q;
  const index_t n = 12000;
  const auto matrix = [=](std::uintptr_t number) {  // which a plan does not read
    return matrix_view<T>{reinterpret_cast<T*>(number << 40), n, n, n, 1};
  };
  const auto x = matrix(1), y = matrix(2), z = matrix(3);
  const gemm_plan plan = plan_gemm(q, x, y, z, {.compute = emulated<T>});
  if (plan.size == 1 && plan.parts[0].path == gemm_path::residues) return plan.parts[0];
  return std::nullopt;
}

/// The case is done by integers where that can be, in bands of so many rows and columns.
template <class T>
gemm_case by_integers(gemm_case g, index_t band_m, index_t band_n) {
  g.compute = emulated<T>;
  const auto part = part_by_integers<T>();
  if (part)
    g.change_plan = [=](gemm_plan& plan) {
      const index_t m = plan.m, n = plan.n;
      plan.type = sizeof(T) == 8 ? "f64_emulated" : "f32_emulated";
      plan.size = 1, plan.parts[0] = *part;
      plan.parts[0].m = m, plan.parts[0].n = n, plan.parts[0].m0 = plan.parts[0].n0 = 0;
      plan.parts[0].band_m = band_m, plan.parts[0].band_n = band_n;
    };
  return g;
}

template <class T>
class GemmByIntegers : public testing::Test {};
using floats = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmByIntegers, floats);

TYPED_TEST(GemmByIntegers, SizesOpsLayoutsAndBands) {
  using T = TypeParam;
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{2, 2, 1},       {7, 5, 3},       {33, 65, 17},
                              {128, 256, 128}, {129, 257, 129}, {300, 40, 1000}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  for (const auto& size : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T}) {
        gemm_case g{.m = size[0],
                    .n = size[1],
                    .k = size[2],
                    .op_a = a,
                    .op_b = b,
                    .alpha = 1.5,
                    .beta = double(rng() % 2)};
        g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
        g.gap = index_t(rng() % 5), g.offset = index_t(rng() % 5);
        EXPECT_TRUE(run<T>(by_integers<T>(g, 1 + index_t(rng() % 300), 1 + index_t(rng() % 300)), rng()));
      }
}

TYPED_TEST(GemmByIntegers, EveryOpAndLayout) {
  std::mt19937_64 rng(fresh_seed());
  for_ops_and_layouts([&](op op_a, op op_b, layout a, layout b, layout c) {
    const gemm_case g{37, 45, 29, op_a, op_b, a, b, c, 3, 5, 1.5, 0.5};
    EXPECT_TRUE(run<TypeParam>(by_integers<TypeParam>(g, 20, 30), rng()));
  });
}

// Whatever the form: batches and lists are not emulated, and asking for it is no error.
TYPED_TEST(GemmByIntegers, EveryOpLayoutAndForm) {
  every_op_and_layout(products_of<TypeParam>(), emulated<TypeParam>);
}

/// op(A)·op(B) of row-major m x k and k x n, by integers where that can be; otherwise in tiles, k undivided.
template <class T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, index_t m, index_t n, index_t k,
                       bool emulate) {
  return row_major_product<T>(a, b, m, n, k, [&](auto x, auto y, auto z) {
    gemm_options options;
    if (emulate) {
      queue q;
      options.compute = emulated<T>;
      options.plan = plan_gemm(q, x, y, z, options);
      const gemm_case g = by_integers<T>({.m = m, .n = n, .k = k}, m, n);
      if (g.change_plan) g.change_plan(*options.plan);
    } else if (!on_host) {
      queue q;
      gemm_plan plan = plan_gemm(q, x, y, z, options);
      for (gemm_part& part : plan.parts) part.split = {};
      options.plan = plan;
    }
    return options;
  });
}

/// The sums of such a product.
template <class T>
reference_sums<T, T> sums_of(const std::vector<T>& a, const std::vector<T>& b, index_t m, index_t n,
                             index_t k) {
  return {{a.data(), k, 1}, {b.data(), n, 1}, m, n, k};
}

// Whole numbers, of which no rounding is left if each of what is computed is.
TYPED_TEST(GemmByIntegers, WholeNumbersAreExact) {
  using T = TypeParam;
  const index_t m = 140, n = 270, k = 500;
  std::mt19937_64 rng(fresh_seed());
  std::vector<T> a(m * k), b(k * n);
  for (T& x : a) x = T(int(rng() % 63) - 31);
  for (T& x : b) x = T(int(rng() % 63) - 31);
  const auto c = product(a, b, m, n, k, true);
  const auto sums = sums_of(a, b, m, n, k);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) ASSERT_EQ(c[i * n + j], T(sums(i, j).value)) << i << ", " << j;
}

// What the device finds out by itself: an infinity or NaN, and exponents too far apart, are left to the standard product.
TYPED_TEST(GemmByIntegers, WhatIntegersCannotDo) {
  using T = TypeParam;
  const index_t m = 140, n = 270, k = 200;
  std::mt19937_64 rng(fresh_seed());
  std::uniform_real_distribution<double> uniform(-1, 1);
  const T infinity = std::numeric_limits<T>::infinity();
  for (int what = 0; what < 4; ++what) {
    std::vector<T> a(m * k), b(k * n);
    for (T& x : a) x = T(uniform(rng));
    for (T& x : b) x = T(uniform(rng));
    if (what == 0) a[37 * k + 3] = infinity, b[3 * n + 5] = 0;
    if (what == 1) a[37 * k + 3] = -infinity, a[37 * k + 4] = infinity;
    if (what == 2) b[3 * n + 5] = std::numeric_limits<T>::quiet_NaN();
    if (what == 3)
      for (index_t i = 0; i < m; ++i) a[i * k + i] *= T(1e30);
    const auto c = product(a, b, m, n, k, true);
    const auto sums = sums_of(a, b, m, n, k);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const auto sum = sums(i, j);
        ASSERT_TRUE(
            is_near(c[i * n + j], T(sum.value), T(sum.magnitude) * T(k) * std::numeric_limits<T>::epsilon()))
            << what << ": " << i << ", " << j;
      }
  }
}

// On the mean and at most no less accurate than the standard product, and the same bits again.
TYPED_TEST(GemmByIntegers, AreNoLessAccurateThanTheStandardProduct) {
  using T = TypeParam;
  const index_t m = 130, n = 140, k = 1500;
  std::mt19937_64 rng(fresh_seed());
  const auto kinds = kinds_of_numbers(rng, 2);
  for (const auto& random : kinds) {
    std::vector<T> a(m * k), b(k * n);
    for (T& x : a) x = T(random());
    for (T& x : b) x = T(random());
    const auto c = product(a, b, m, n, k, true), standard = product(a, b, m, n, k, false);
    const auto sums = sums_of(a, b, m, n, k);
    double mean = 0, most = 0, mean_standard = 0, most_standard = 0;
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const long double exact = sums(i, j).value;
        const auto error = double(std::fabs(c[i * n + j] - exact)),
                   other = double(std::fabs(standard[i * n + j] - exact));
        mean += error, mean_standard += other;
        most = std::max(most, error), most_standard = std::max(most_standard, other);
      }
    const long kind = &random - kinds.data();
    EXPECT_LE(mean, mean_standard) << "kind " << kind;
    EXPECT_LE(most, most_standard) << "kind " << kind;
    const auto again = product(a, b, m, n, k, true);
    EXPECT_EQ(std::memcmp(c.data(), again.data(), c.size() * sizeof(T)), 0) << "kind " << kind;
    std::printf("errors of kind %ld: mean %.3g of %.3g, largest %.3g of %.3g\n", kind, mean, mean_standard,
                most, most_standard);
  }
}

// Sums of integers are exact, whatever adds them up, where operands lie and what else is done.
TYPED_TEST(GemmByIntegers, TheSameBitsAgain) {
  using T = TypeParam;
  const index_t m = 140, n = 270, k = 700;
  std::mt19937_64 rng(fresh_seed());
  const moved a = moved::random<T>(m * k, rng), b = moved::random<T>(k * n, rng), c(m * n * sizeof(T));
  const auto change = by_integers<T>({.m = m, .n = n, .k = k}, 100, 200).change_plan;
  expect_same_bits(c, "by integers", [&](queue& q, bool elsewhere) {
    const auto x = matrix_view<T>::row_major(a.at<T>(elsewhere), m, k);
    const auto y = matrix_view<T>::row_major(b.at<T>(elsewhere), k, n);
    const auto z = matrix_view<T>::row_major(c.at<T>(elsewhere), m, n);
    gemm_options options{.compute = emulated<T>};
    options.plan = plan_gemm(q, x, y, z, options);
    if (change) change(*options.plan);
    gemm(q, 1.5, x, y, 0, z, options);
  });
}

TYPED_TEST(GemmByIntegers, PlansAreRefusedElsewhere) {
  using T = TypeParam;
  const auto part = part_by_integers<T>();
  if (on_host) {
    EXPECT_FALSE(part);  // hosts compute as without
    return;
  }
  const stored_matrix<T> x(90, 90, layout::right, 0, 0), z(90, 90, layout::right, 0, 0);
  queue q;
  gemm_plan plan = plan_gemm(q, x.view, x.view, z.view);
  plan.size = 1, plan.parts[0].path = gemm_path::residues, plan.parts[0].m = plan.parts[0].n = 90;
  try {
    gemm(q, 1, x.view, x.view, 0, z.view, {.plan = plan});
    FAIL() << "a plan without emulation did emulate";
  } catch (const invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("emulates, but its type is"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace keramos::test

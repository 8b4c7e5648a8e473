// Floats of eight bits: the numbers themselves, and their products in any mix of both kinds.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

#include <keramos/gemm/fused.hpp>

#include "batched_case.hpp"
#include "gemm_case.hpp"

namespace keramos::test {
namespace {

template <class T>
class EightBits : public testing::Test {};
using kinds = testing::Types<float8_e4m3, float8_e5m2>;
TYPED_TEST_SUITE(EightBits, kinds);

// What a number's bits say, by OFP8.
template <class T>
double value_of(unsigned bits) {
  constexpr bool e5m2 = std::is_same_v<T, float8_e5m2>;
  constexpr int mantissa = e5m2 ? 2 : 3, bias = e5m2 ? 15 : 7;
  const int exponent = int(bits & 0x7f) >> mantissa;
  const double fraction = double(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
  const double sign = bits & 0x80 ? -1 : 1;
  if (e5m2 && exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  if (!e5m2 && (bits & 0x7f) == 0x7f) return NAN;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

TYPED_TEST(EightBits, EveryNumberThereAndBack) {
  using limits = std::numeric_limits<TypeParam>;
  for (unsigned bits = 0; bits < 256; ++bits) {
    const TypeParam x = TypeParam::from_bits(std::uint8_t(bits));
    const double expected = value_of<TypeParam>(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(float(x))) << bits;
      ASSERT_TRUE(std::isnan(float(TypeParam(float(x))))) << bits;
    } else {
      ASSERT_EQ(float(x), expected) << bits;
      ASSERT_EQ(std::signbit(float(x)), std::signbit(expected)) << bits;
      if (std::isfinite(expected)) {
        ASSERT_EQ(TypeParam(float(x)).bits, bits);
      }
    }
  }
  EXPECT_EQ(float(TypeParam(INFINITY)), float(limits::max()));
  EXPECT_EQ(float(TypeParam(-1e30f)), float(limits::lowest()));
  EXPECT_EQ(float(limits::min()), std::ldexp(1.0, limits::min_exponent - 1));
  EXPECT_EQ(float(limits::epsilon()), std::ldexp(1.0, 1 - limits::digits));
}

// A float between two neighbours becomes the nearer one; in the middle the even one.
TYPED_TEST(EightBits, RoundsToTheNearest) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    if ((bits & 0x7f) == 0x7f) continue;
    const double low = value_of<TypeParam>(bits), high = value_of<TypeParam>(bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double middle = (low + high) / 2;
    const auto between = [&](double from, double to) { return std::nextafter(float(from), float(to)); };
    ASSERT_EQ(TypeParam(between(middle, low)).bits, bits) << bits;
    ASSERT_EQ(TypeParam(between(middle, high)).bits, bits + 1) << bits;
    ASSERT_EQ(TypeParam(float(middle)).bits, bits % 2 == 0 ? bits : bits + 1) << bits;
  }
}

template <class Elements>
class GemmEights : public testing::Test {
 protected:
  using a = typename Elements::a;
  using b = typename Elements::b;
  using c = typename Elements::c;

  template <class Case>
  static testing::AssertionResult product(const Case& g, std::uint64_t seed) {
    return run<a, c, b>(g, seed);
  }
};
using mixes =
    testing::Types<elements<float8_e4m3, float8_e4m3, float>, elements<float8_e4m3, float8_e5m2, float16>,
                   elements<float8_e5m2, float8_e4m3, bfloat16>, elements<float8_e5m2, float8_e5m2, float>>;
TYPED_TEST_SUITE(GemmEights, mixes);

TYPED_TEST(GemmEights, SizesAndOps) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},    {7, 5, 3},     {16, 16, 16}, {33, 65, 17},  {128, 128, 64},
                              {64, 64, 32}, {129, 63, 77}, {1, 200, 90}, {200, 1, 333}, {300, 257, 240}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::C})
        EXPECT_TRUE(this->product(
            gemm_case{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .alpha = 1.5, .beta = double(rng() % 2)},
            rng()));
}

TYPED_TEST(GemmEights, EveryOpAndLayout) {
  every_op_and_layout<typename TypeParam::a, typename TypeParam::c, typename TypeParam::b>();
}

TYPED_TEST(GemmEights, RandomLayoutsAndScalars) {
  std::mt19937_64 rng(fresh_seed());
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  const double scalars[] = {0, 1, -1, 0.75};
  for (int i = 0; i < 80; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 200), .n = index_t(1 + rng() % 200), .k = index_t(rng() % 300)};
    g.op_a = rng() % 2 ? op::T : op::N, g.op_b = rng() % 2 ? op::T : op::N;
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = i % 2 ? index_t(rng() % 20) : 16, g.offset = i % 2 ? index_t(rng() % 20) : 0;
    if (i % 4 == 0) g.m = (g.m + 15) / 16 * 16, g.n = (g.n + 15) / 16 * 16, g.k = (g.k + 15) / 16 * 16;
    g.alpha = scalars[rng() % 4], g.beta = scalars[rng() % 4];
    EXPECT_TRUE(this->product(g, rng()));
  }
}

// Few elements of C and a long k, which GPUs divide; a row, and a column.
TYPED_TEST(GemmEights, LongK) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{20, 30, 20000}, {1, 40, 5000}, {40, 1, 5000}};
  for (const auto& [m, n, k] : sizes)
    EXPECT_TRUE(this->product(gemm_case{.m = m, .n = n, .k = k, .beta = 0.5}, rng()));
}

TYPED_TEST(GemmEights, PackedBeforehandAndCut) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T}) {
        gemm_case g{.m = 200, .n = 150, .k = 70, .op_a = a, .op_b = b, .gap = gap, .offset = gap, .beta = 1};
        g.change_plan = [gap](gemm_plan& plan) { pack_and_cut(plan, gap > 0 ? 7 : 0); };
        EXPECT_TRUE(this->product(g, rng()));
      }
}

TYPED_TEST(GemmEights, Batches) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2, g.beta = double(size % 2);
      EXPECT_TRUE(this->product(g, rng()));
    }
}

TYPED_TEST(GemmEights, Lists) {
  EXPECT_TRUE(
      (run_list<typename TypeParam::a, typename TypeParam::c, typename TypeParam::b>(op::N, fresh_seed())));
}

// What cannot be written in C's type is the same in any order of sums: NaN and infinity reach C.
TYPED_TEST(GemmEights, NaNAndInfinityReachC) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  const index_t m = 40, n = 24, k = 48;
  stored_matrix<A> a(m, k, layout::right, 0, 0);
  stored_matrix<B> b(k, n, layout::right, 0, 0);
  stored_matrix<C> c(m, n, layout::right, 0, 0);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) a.at(i, p) = A(1);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) b.at(p, j) = B(0.5);
  a.at(3, 5) = std::numeric_limits<A>::quiet_NaN();
  if constexpr (std::numeric_limits<A>::has_infinity) a.at(7, 40) = std::numeric_limits<A>::infinity();
  a.upload(), b.upload();
  queue q;
  gemm(q, 2, a.view, b.view, 0, c.view);
  q.wait();
  c.download();
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const float x = float(c.at(i, j));
      if (i == 3) {
        ASSERT_TRUE(std::isnan(x)) << i << ' ' << j;
      } else {
        const bool is_infinite = i == 7 && std::numeric_limits<A>::has_infinity;
        ASSERT_EQ(x, is_infinite ? INFINITY : float(k)) << i << ' ' << j;
      }
    }
}

// Scales of rows and columns, as quantised networks have them.
TYPED_TEST(GemmEights, ScalesOfRowsAndColumns) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  const index_t m = 50, n = 70, k = 64;
  stored_matrix<A> a(m, k, layout::right, 0, 0);
  stored_matrix<B> b(k, n, layout::right, 0, 0);
  stored_matrix<float> c(m, n, layout::right, 0, 0);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) a.at(i, p) = A(int(i + p) % 3 - 1);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) b.at(p, j) = B(int(2 * p + j) % 5 - 2);
  const Kokkos::View<float*, default_execution_space> rows("rows", m), cols("columns", n);
  const auto of_row = Kokkos::create_mirror_view(rows), of_col = Kokkos::create_mirror_view(cols);
  for (index_t i = 0; i < m; ++i) of_row(i) = std::ldexp(1.0f, int(i % 5) - 2);
  for (index_t j = 0; j < n; ++j) of_col(j) = 1 + float(j % 3);
  Kokkos::deep_copy(rows, of_row);
  Kokkos::deep_copy(cols, of_col);
  a.upload(), b.upload();
  queue q;
  gemm(q, a.view, b.view, c.view, epilogue::scale_by_row(rows) | epilogue::scale_by_column(cols));
  record_support("epilogue", a.view, b.view, c.view, op::N, op::N);
  q.wait();
  c.download();
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const float sum = float(reference::product_element(a.applied(), b.applied(), i, j, k).value);
      ASSERT_EQ(c.at(i, j), sum * of_row(i) * of_col(j)) << i << ' ' << j;
    }
}

}  // namespace
}  // namespace keramos::test

// Floats of eight bits: the numbers themselves, and their products in any mix of both kinds.
#if defined(__CUDACC__)
#if __has_include(<cuda_fp8.h>)
#include <cuda_fp8.h>
#define KERAMOS_TEST_CUDA_FP8
#endif
#endif

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>

#include "product_cases.hpp"

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
  static judged_products products() {
    return products_of<typename Elements::a, typename Elements::c, typename Elements::b>();
  }
};
using mixes =
    testing::Types<elements<float8_e4m3, float8_e4m3, float>, elements<float8_e4m3, float8_e5m2, float16>,
                   elements<float8_e5m2, float8_e4m3, bfloat16>, elements<float8_e5m2, float8_e5m2, float>>;
TYPED_TEST_SUITE(GemmEights, mixes);

TYPED_TEST(GemmEights, SizesAndOps) { sizes_and_ops(this->products()); }
TYPED_TEST(GemmEights, EveryOpAndLayout) { every_op_and_layout(this->products()); }
TYPED_TEST(GemmEights, RandomLayoutsAndScalars) { random_layouts_and_scalars(this->products()); }
TYPED_TEST(GemmEights, LongK) { long_k(this->products()); }
TYPED_TEST(GemmEights, PackedBeforehandAndCut) { packed_beforehand_and_cut(this->products()); }
TYPED_TEST(GemmEights, Batches) { batches(this->products()); }
TYPED_TEST(GemmEights, Lists) { lists(this->products()); }
TYPED_TEST(GemmEights, ManyTiles) { many_tiles(this->products()); }

// The other mixes are done by the same kernels, which are told of each operand which kind it is.
template <class Elements>
class GemmOtherEights : public testing::Test {};
using other_mixes =
    testing::Types<elements<float8_e4m3, float8_e4m3, float16>, elements<float8_e4m3, float8_e4m3, bfloat16>,
                   elements<float8_e4m3, float8_e5m2, bfloat16>, elements<float8_e4m3, float8_e5m2, float>,
                   elements<float8_e5m2, float8_e4m3, float16>, elements<float8_e5m2, float8_e4m3, float>,
                   elements<float8_e5m2, float8_e5m2, float16>, elements<float8_e5m2, float8_e5m2, bfloat16>>;
TYPED_TEST_SUITE(GemmOtherEights, other_mixes);

TYPED_TEST(GemmOtherEights, EveryOpAndLayout) {
  every_op_and_layout(products_of<typename TypeParam::a, typename TypeParam::c, typename TypeParam::b>());
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

#if defined(KERAMOS_TEST_CUDA_FP8)
// CUDA's floats of eight bits are the same under other names.
template <class Other, class Own>
void expect_the_same(const matrix_view<Own>& a, stored_matrix<float>& c, stored_matrix<float>& other) {
  const matrix_view<Other> x{reinterpret_cast<Other*>(a.data), a.rows, a.cols, a.row_stride, a.col_stride};
  queue q;
  gemm(q, 1.5, a, a, 0, c.view);
  gemm(q, 1.5, x, a, 0, other.view);
  q.wait();
  c.download(), other.download();
  EXPECT_EQ(std::memcmp(c.host.data(), other.host.data(), c.host.extent(0) * sizeof(float)), 0);
}
TYPED_TEST(EightBits, CudasAreMultipliedAsTheLibrarysOwn) {
  using other = std::conditional_t<std::is_same_v<TypeParam, float8_e5m2>, __nv_fp8_e5m2, __nv_fp8_e4m3>;
  std::mt19937_64 rng(fresh_seed());
  stored_matrix<TypeParam> a(45, 45, layout::right, 0, 0);
  stored_matrix<float> c(45, 45, layout::right, 0, 0), of_other(45, 45, layout::right, 0, 0);
  a.fill_all([&] { return random_value<TypeParam>(rng); });
  c.fill_all(poison<float>), of_other.fill_all([] { return 0.f; });
  a.upload(), c.upload(), of_other.upload();
  expect_the_same<other>(a.view, c, of_other);
}
#endif

}  // namespace
}  // namespace keramos::test

// float16 and bfloat16: every number there and back, and rounding to the nearest.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include <keramos/keramos.hpp>

#include "gemm_case.hpp"

namespace keramos::test {
namespace {

template <class T>
T from_bits(unsigned bits) {
  T x;
  x.bits = std::uint16_t(bits);
  return x;
}

template <class T>
class ShortFloat : public testing::Test {};
using short_types = testing::Types<float16, bfloat16>;
TYPED_TEST_SUITE(ShortFloat, short_types);

// What a number's bits say, by the definition of IEEE 754's formats.
template <class T>
double value_of(unsigned bits) {
  constexpr int mantissa = std::is_same_v<T, float16> ? 10 : 7;
  constexpr int bias = std::is_same_v<T, float16> ? 15 : 127;
  const int exponent = int(bits >> mantissa) & (2 * bias + 1);
  const double fraction = double(bits & ((1u << mantissa) - 1)) / (1 << mantissa);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 2 * bias + 1) return fraction == 0 ? sign * INFINITY : NAN;
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

TYPED_TEST(ShortFloat, EveryNumberThereAndBack) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float x = from_bits<TypeParam>(bits);
    const double expected = value_of<TypeParam>(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(x)) << bits;
      ASSERT_TRUE(std::isnan(float(TypeParam(x)))) << bits;
    } else {
      ASSERT_EQ(x, expected) << bits;
      ASSERT_EQ(std::signbit(x), std::signbit(expected)) << bits;
      ASSERT_EQ(TypeParam(x).bits, bits);
    }
  }
}

// A float between two neighbours becomes the nearer one; in the middle the even one.
TYPED_TEST(ShortFloat, RoundsToTheNearest) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const double low = value_of<TypeParam>(bits), high = value_of<TypeParam>(bits + 1);
    if (!std::isfinite(low) || !std::isfinite(high) || (bits & 0x7fff) == 0x7fff) continue;
    const auto middle = float((low + high) / 2);
    ASSERT_EQ(double(middle), (low + high) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(TypeParam(middle).bits, even) << bits;
    ASSERT_EQ(TypeParam(std::nextafter(middle, float(low))).bits, bits);
    ASSERT_EQ(TypeParam(std::nextafter(middle, float(high))).bits, bits + 1);
  }
}

TYPED_TEST(ShortFloat, LargeNumbersBecomeInfinite) {
  using limits = std::numeric_limits<TypeParam>;
  const float inf = std::numeric_limits<float>::infinity(), largest = limits::max();
  EXPECT_EQ(float(TypeParam(largest)), largest);
  // Half a step further it is as far to the next power of two, which is even, and would be infinite.
  const float limit = largest + std::ldexp(1.0f, limits::max_exponent - limits::digits - 1);
  EXPECT_EQ(float(TypeParam(std::nextafter(limit, 0.0f))), largest);
  EXPECT_EQ(float(TypeParam(limit)), inf);
  EXPECT_EQ(float(TypeParam(-limit)), -inf);
  EXPECT_EQ(float(TypeParam(-inf)), -inf);
  EXPECT_EQ(float(TypeParam(std::numeric_limits<float>::denorm_min())), 0.0f);
}

TYPED_TEST(ShortFloat, Limits) {
  using limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(float(TypeParam(1.0f + float(limits::epsilon()))), 1.0f + float(limits::epsilon()));
  EXPECT_EQ(float(TypeParam(1.0f + float(limits::epsilon()) / 2)), 1.0f);
  EXPECT_EQ(float(limits::min()), std::ldexp(1.0f, limits::min_exponent - 1));
  EXPECT_EQ(float(limits::epsilon()), std::ldexp(1.0f, 1 - limits::digits));
  EXPECT_EQ(float(limits::lowest()), -float(limits::max()));
  EXPECT_EQ(float(limits::denorm_min()), std::ldexp(1.0f, limits::min_exponent - limits::digits));
  EXPECT_TRUE(std::isinf(float(limits::infinity())) && std::isnan(float(limits::quiet_NaN())));
}

template <class From, class Narrow, class All, class Wide>
void convert(queue& q, const From& from, const Narrow& narrow, const All& all, const Wide& wide) {
  using T = typename Narrow::value_type;
  q.parallel_for(
      "convert", range{index_t(from.extent(0))}, KERAMOS_LAMBDA(index_t i) {
        narrow(i) = T(from(i));
        wide(i) = all(i);
      });
  q.wait();
}

// What kernels convert, judged by what the bits say.
TYPED_TEST(ShortFloat, KernelsConvert) {
  constexpr int count = 1 << 16;
  const Kokkos::View<float*, default_execution_space> from("from", count);
  const Kokkos::View<float*, default_execution_space> wide("wide", count);
  const Kokkos::View<TypeParam*, default_execution_space> all("all", count), narrow("narrow", count);
  const auto from_host = Kokkos::create_mirror_view(from);
  const auto all_host = Kokkos::create_mirror_view(all);
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < count; ++i) {
    all_host(i) = from_bits<TypeParam>(unsigned(i));
    from_host(i) = __builtin_bit_cast(float, std::uint32_t(rng()));
    if (i % 2)
      from_host(i) = std::ldexp(from_host(i) == from_host(i) ? std::fmod(from_host(i), 1.0f) : 0.5f,
                                int(rng() % 40) - 25);
  }
  Kokkos::deep_copy(from, from_host);
  Kokkos::deep_copy(all, all_host);
  queue q;
  convert(q, from, narrow, all, wide);
  const auto narrow_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), narrow);
  const auto wide_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), wide);
  for (int i = 0; i < count; ++i) {
    const double x = from_host(i), got = value_of<TypeParam>(narrow_host(i).bits);
    const double largest = float(std::numeric_limits<TypeParam>::max());
    if (std::isnan(x))
      ASSERT_TRUE(std::isnan(got));
    else if (std::abs(x) <= largest)
      ASSERT_LE(std::abs(got - x), (reference::rounding_to_c<float, TypeParam>(std::abs(x)))) << x;
    else
      ASSERT_TRUE(std::abs(got) == largest || std::isinf(got)) << x;
    const double expected = value_of<TypeParam>(unsigned(i));
    ASSERT_TRUE(wide_host(i) == expected || (std::isnan(wide_host(i)) && std::isnan(expected))) << i;
  }
}

}  // namespace
}  // namespace keramos::test

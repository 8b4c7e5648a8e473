// The judgement of C = epilogue(A·B): right results pass, and each kind of wrong one is found.
#include "commands/epilogue/judge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace keramos::perf {
namespace {

template <class A, class B = A, class C = A>
struct epilogue_types {
  using a = A;
  using b = B;
  using c = C;
};

/// Such a product, computed one element after the other in the type of sums.
template <class A, class B, class C>
struct product_with_epilogue {
  using T = reference::wider_element<A, B>;
  using number = epilogue_number<T, C>;
  // Of integers modulo 2^32, as kernels count.
  using sum = std::conditional_t<std::is_integral_v<C>, std::uint32_t, number>;
  std::int64_t n;
  std::uint64_t seed = std::random_device()();
  std::vector<A> a;
  std::vector<B> b;
  std::vector<number> bias;
  float factor = 1;
  std::vector<C> c;

  explicit product_with_epilogue(std::int64_t n)
      : n(n), a(std::size_t(n * n)), b(a.size()), bias(std::size_t(n)), c(a.size()) {
    std::mt19937_64 rng(seed);
    const double root = std::sqrt(double(n));
    if constexpr (std::is_integral_v<C>) {
      constexpr bool rounds = reference::is_quantized<C>;
      draw(rng, a, 30), draw(rng, b, 30), draw(rng, bias, rounds ? 20 : 900 * root);
      factor = float(rounds ? 60 / (900 * root) : 1);
    } else {
      draw(rng, a, 1 / root), draw(rng, b, 1), draw(rng, bias, 1);
    }
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        c[std::size_t(i * n + j)] = element(acc(i, j), bias[std::size_t(j)]);
  }

  template <class E>
  static void draw(std::mt19937_64& rng, std::vector<E>& all, double size) {
    std::normal_distribution<double> normal;
    for (E& x : all) {
      const double re = size * normal(rng);
      if constexpr (std::is_integral_v<E>)
        x = E(
            std::clamp<double>(std::round(re), std::numeric_limits<E>::min(), std::numeric_limits<E>::max()));
      else if constexpr (keramos::detail::is_complex<E>)
        x = E(typename E::value_type(re), typename E::value_type(size * normal(rng)));
      else
        x = E(reference::sum_t<E>(re));
    }
  }

  sum acc(std::int64_t i, std::int64_t j) const {
    sum s = sum(0);
    for (std::int64_t p = 0; p < n; ++p)
      s += as_sum(a[std::size_t(i * n + p)]) * as_sum(b[std::size_t(p * n + j)]);
    return s;
  }
  template <class E>
  static sum as_sum(const E& x) {
    if constexpr (std::is_integral_v<C>)
      return sum(std::int32_t(x));
    else
      return sum(x);
  }
  /// The element of C that a sum becomes.
  C element(const sum& s, const number& of_bias) const {
    if constexpr (reference::is_quantized<C>)
      return C(std::clamp(std::nearbyint(factor * float(std::int32_t(s)) + of_bias), 0.f, 127.f));
    else if constexpr (std::is_integral_v<C>)
      return std::max(C(s + sum(of_bias)), C(0));
    else if constexpr (keramos::detail::is_complex<C>)
      return s + of_bias;
    else
      return C(gelu(s + of_bias));
  }
  static number gelu(number x) { return number(double(x) / 2 * std::erfc(-double(x) / std::sqrt(2.0))); }

  std::optional<std::string> wrong() const {
    return wrong_element(a.data(), b.data(), bias.data(), factor, c.data(), n, true, 1);
  }
  /// How large the number is that C's element is made of: its real part, and of quantized ones a part of the range.
  double size_at(std::int64_t i, std::int64_t j) const {
    const sum s = acc(i, j);
    if constexpr (reference::is_quantized<C>)
      return double(factor * float(std::int32_t(s)) + bias[std::size_t(j)]) / 60;
    else if constexpr (std::is_integral_v<C>)
      return double(std::int32_t(s + sum(bias[std::size_t(j)]))) / (900 * std::sqrt(double(n)));
    else if constexpr (keramos::detail::is_complex<C>)
      return double((s + bias[std::size_t(j)]).re);
    else
      return double(s + bias[std::size_t(j)]);
  }
  /// Whether a change of one element is found, and which one: of a size from `low` to `high`.
  bool is_found(
      double low, double high,
      const std::function<C(const product_with_epilogue&, std::int64_t i, std::int64_t j)>& other) const {
    product_with_epilogue x = *this;
    for (std::int64_t at = 0; at < n * n; ++at) {
      if (const double s = size_at(at / n, at % n); s < low || s > high) continue;
      x.c[std::size_t(at)] = other(*this, at / n, at % n);
      const auto found = x.wrong();
      const auto place = "C(" + std::to_string(at / n) + ", " + std::to_string(at % n) + ") is ";
      return found && found->find(place) == 0;
    }
    return false;
  }
};

template <class Of>
class PerfEpilogue : public testing::Test {};
using tested = testing::Types<epilogue_types<float>, epilogue_types<double>, epilogue_types<float16>,
                              epilogue_types<bfloat16>, epilogue_types<float8_e4m3, float8_e4m3, bfloat16>,
                              epilogue_types<float16, float, float>, epilogue_types<std::int32_t>,
                              epilogue_types<std::int8_t>, epilogue_types<complex<float>>,
                              epilogue_types<complex<double>>>;
TYPED_TEST_SUITE(PerfEpilogue, tested);

TYPED_TEST(PerfEpilogue, WhatIsRightPassesAndWhatIsWrongIsFound) {
  using C = typename TypeParam::c;
  using product = product_with_epilogue<typename TypeParam::a, typename TypeParam::b, C>;
  using number = typename product::number;
  using i64 = std::int64_t;
  const product x(70);
  SCOPED_TRACE("seed " + std::to_string(x.seed));
  EXPECT_FALSE(x.wrong()) << *x.wrong();
  EXPECT_TRUE(x.is_found(0.5, 1.5, [](const product& p, i64 i, i64 j) {  // another bias
    if constexpr (std::is_integral_v<C> && !reference::is_quantized<C>)
      return p.element(p.acc(i, j), p.bias[std::size_t(j)] + 1);
    else
      return p.element(p.acc(i, j), p.bias[std::size_t(j)] + number(reference::is_quantized<C> ? 2 : 0.25));
  }));
  if constexpr (std::is_integral_v<C>) {
    EXPECT_TRUE(x.is_found(0.5, 1.5, [](const product& p, i64 i, i64 j) {
      return C(p.c[std::size_t(i * p.n + j)] + (reference::is_quantized<C> ? 2 : 1));
    }));
    EXPECT_TRUE(x.is_found(-1.5, -0.5, [](const product& p, i64 i, i64 j) {  // no ReLU
      return C(std::int32_t(p.factor * float(std::int32_t(p.acc(i, j))) + float(p.bias[std::size_t(j)])));
    }));
  } else {
    constexpr double u = reference::unit_roundoff<reference::part_t<C>>;
    // Two units in the last place and more, but for sums in C's type.
    const double off = (keramos::detail::is_complex<C> ? 40000 : std::is_same_v<C, number> ? 4000 : 4) * u;
    using part = reference::part_t<number>;
    EXPECT_TRUE(x.is_found(0.5, 1.5, [=](const product& p, i64 i, i64 j) {
      const C& c = p.c[std::size_t(i * p.n + j)];
      if constexpr (keramos::detail::is_complex<C>)
        return C(c.re, part(double(c.im) + off));
      else
        return C(part(double(c) * (1 + off)));
    }));
    EXPECT_TRUE(x.is_found(
        0.5, 1.5, [](const product&, i64, i64) { return C(std::numeric_limits<part>::quiet_NaN()); }));
  }
  if constexpr (behind_bias_of<C> == behind_bias::gelu) {
    EXPECT_TRUE(x.is_found(0.5, 1.5, [](const product& p, i64 i, i64 j) {  // no GELU
      return C(p.acc(i, j) + p.bias[std::size_t(j)]);
    }));
  }
}

// A sum beyond the range is at its end, and does not wrap.
TEST(PerfEpilogueOfBytes, WhatWrapsIsFound) {
  using product = product_with_epilogue<std::int8_t, std::int8_t, std::int8_t>;
  const product x(70);
  SCOPED_TRACE("seed " + std::to_string(x.seed));
  EXPECT_TRUE(x.is_found(2.3, 4, [](const product& p, std::int64_t i, std::int64_t j) {
    return std::int8_t(std::int32_t(p.factor * float(std::int32_t(p.acc(i, j))) + p.bias[std::size_t(j)]));
  }));
}

// Of a large one elements are judged by chance, the last one always.
TEST(PerfEpilogueOfLarge, TheLastElementOfALargeOne) {
  product_with_epilogue<float, float, float> x(520);
  SCOPED_TRACE("seed " + std::to_string(x.seed));
  EXPECT_FALSE(x.wrong());
  x.c.back() += 1;
  const auto wrong = x.wrong();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->find("C(519, 519) is "), 0u) << *wrong;
}

}  // namespace
}  // namespace keramos::perf

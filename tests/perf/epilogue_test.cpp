// The judgement of C = gelu(A·B + bias): right results pass, and each kind of wrong one is found.
#include "commands/epilogue/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace keramos::perf {
namespace {

template <class A, class C = A>
struct gelu_types {
  using a = A;
  using c = C;
};

/// Such a product, computed one element after the other in the type of sums.
template <class A, class C>
struct gelu_product {
  using sum = reference::sum_t<A>;
  std::int64_t n;
  std::uint64_t seed = std::random_device()();
  std::vector<A> a, b;
  std::vector<sum> bias;
  std::vector<C> c;

  explicit gelu_product(std::int64_t n)
      : n(n), a(std::size_t(n * n)), b(a.size()), bias(std::size_t(n)), c(a.size()) {
    std::mt19937_64 rng(seed);
    std::normal_distribution<double> normal;
    const double scale = 1 / std::sqrt(double(n));
    for (A& x : a) x = A(sum(scale * normal(rng)));
    for (A& x : b) x = A(sum(normal(rng)));
    for (sum& x : bias) x = sum(normal(rng));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) at(i, j) = C(gelu(acc(i, j, n) + bias[std::size_t(j)]));
  }

  C& at(std::int64_t i, std::int64_t j) { return c[std::size_t(i * n + j)]; }
  sum acc(std::int64_t i, std::int64_t j, std::int64_t k) const {
    sum s = 0;
    for (std::int64_t p = 0; p < k; ++p) s += sum(a[std::size_t(i * n + p)]) * sum(b[std::size_t(p * n + j)]);
    return s;
  }
  static sum gelu(sum x) { return sum(double(x) / 2 * std::erfc(-double(x) / std::sqrt(2.0))); }

  std::optional<std::string> wrong() const {
    return wrong_gelu(a.data(), b.data(), bias.data(), c.data(), n, true, 1);
  }
  /// Whether a change of one element is found, and which one: one that GELU changes by more than a tenth.
  bool is_found(const std::function<C(const gelu_product&, std::int64_t i, std::int64_t j)>& other) const {
    gelu_product x = *this;
    for (std::int64_t at = 0; at < n * n; ++at)
      if (const sum s = acc(at / n, at % n, n) + bias[std::size_t(at % n)]; s > sum(0.5) && s < sum(1.5)) {
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
using gelu_tested = testing::Types<gelu_types<float>, gelu_types<double>, gelu_types<float16>,
                                   gelu_types<bfloat16>, gelu_types<float8_e4m3, bfloat16>>;
TYPED_TEST_SUITE(PerfEpilogue, gelu_tested);

TYPED_TEST(PerfEpilogue, WhatIsRightPassesAndWhatIsWrongIsFound) {
  using A = typename TypeParam::a;
  using C = typename TypeParam::c;
  using product = gelu_product<A, C>;
  using sum = typename product::sum;
  const product x(70);
  SCOPED_TRACE("seed " + std::to_string(x.seed));
  EXPECT_FALSE(x.wrong()) << *x.wrong();
  const double digit =
      4 * reference::unit_roundoff<C>;  // two units in the last place and more, but for sums in C's type
  const double off = std::is_same_v<C, sum> ? 1000 * digit : digit;
  using i64 = std::int64_t;
  EXPECT_TRUE(x.is_found([=](const product& p, i64 i, i64 j) {
    return C(sum(double(p.c[std::size_t(i * p.n + j)]) * (1 + off)));
  }));
  EXPECT_TRUE(x.is_found([](const product&, i64, i64) { return C(std::numeric_limits<sum>::quiet_NaN()); }));
  EXPECT_TRUE(x.is_found([](const product& p, i64 i, i64 j) {
    return C(p.acc(i, j, p.n) + p.bias[std::size_t(j)]);
  }));                                                         // no GELU
  EXPECT_TRUE(x.is_found([](const product& p, i64 i, i64 j) {  // another bias
    return C(product::gelu(p.acc(i, j, p.n) + p.bias[std::size_t(j)] + sum(0.25)));
  }));
}

// Of a large one elements are judged by chance, the last one always.
TEST(PerfEpilogueOfLarge, TheLastElementOfALargeOne) {
  gelu_product<float, float> x(520);
  SCOPED_TRACE("seed " + std::to_string(x.seed));
  EXPECT_FALSE(x.wrong());
  x.c.back() += 1;
  const auto wrong = x.wrong();
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->find("C(519, 519) is "), 0u) << *wrong;
}

}  // namespace
}  // namespace keramos::perf

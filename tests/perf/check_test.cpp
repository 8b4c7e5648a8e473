// The judge is judged: right results of every kind pass, a single wrong element does not.
#include "measure/core/check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "measure/core/random.hpp"
#include "perf/product_types.hpp"

namespace keramos::perf {
namespace {

template <class Types>
struct product {
  using T = typename Types::number;
  using C = typename Types::c;

  gemm_case g;
  std::vector<typename Types::a> a;
  std::vector<typename Types::b> b;
  std::vector<C> c0, c;

  product(gemm_case problem, std::uint64_t seed) : g(problem) {
    fill(a, g.m * g.k, seed, 1);
    fill(b, g.k * g.n, seed, 2);
    fill(c0, g.m * g.n, seed, 3);
    compute();
  }

  template <class Element>
  static void fill(std::vector<Element>& x, std::int64_t n, std::uint64_t seed, std::uint64_t stream) {
    const random_stream random(seed, stream);
    x.reserve(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) x.push_back(random.value<Element>(i));
  }

  C& at(std::int64_t i, std::int64_t j) {
    const auto s = strides_of_c(g);
    return c[i * s.row + j * s.col];
  }

  // In the type of sums, so with its rounding errors.
  void compute() {
    using sum_type = typename Types::sum;
    const auto sa = strides_of_op_a(g), sb = strides_of_op_b(g), sc = strides_of_c(g);
    c.assign(g.m * g.n, C(0));
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        sum_type sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          sum += operand_value<sum_type>(g.op_a, a[i * sa.row + p * sa.col]) *
                 operand_value<sum_type>(g.op_b, b[p * sb.row + j * sb.col]);
        }
        sum_type out = scalar(g.alpha) * sum;
        if (g.beta != 0) out += scalar(g.beta) * sum_type(c0[i * sc.row + j * sc.col]);
        at(i, j) = C(out);
      }
    }
  }

  static typename Types::sum scalar(double value) { return typename Types::sum(sum_t<T>(value)); }

  std::unique_ptr<gemm_check> checker(check_method method) const {
    return make_gemm_check(g, a.data(), b.data(), g.beta != 0 ? c0.data() : nullptr, 7, true, method);
  }
};

template <class Types>
inline constexpr bool is_f8 = std::is_same_v<typename Types::a, float8_e4m3>;

template <class Types>
class Check : public testing::Test {
 protected:
  // All ops, layouts and scalars of one size, with a fresh seed.
  template <class F>
  void for_cases(std::int64_t m, std::int64_t n, std::int64_t k, F f) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (auto a : all_ops) {
      for (auto b : all_ops) {
        for (auto layout : {matrix_layout::right, matrix_layout::left}) {
          for (const double beta : {0.0, -2.0}) {
            f(product<Types>({Types::type, a, b, layout, m, n, k, beta == 0 ? 1.0 : 3.0, beta}, seed));
          }
        }
      }
    }
  }
};
TYPED_TEST_SUITE(Check, tested_types);

TYPED_TEST(Check, RightResultsPass) {
  for (auto method : {check_method::every_element, check_method::freivalds}) {
    this->for_cases(150, 201, 77, [&](auto p) {
      const auto v = (*p.checker(method))(p.c.data());
      EXPECT_TRUE(v.passed) << v.where << " " << v.error << " > " << v.bound;
      EXPECT_LE(v.error, v.bound);
      // Sums of few products of eight-bit floats are exact in f32; Freivalds' vectors are not.
      if constexpr (!is_f8<TypeParam> || !std::is_same_v<typename TypeParam::c, float>) {
        EXPECT_EQ(v.error > 0, !std::is_integral_v<typename TypeParam::a>);
      }
    });
  }
}

TYPED_TEST(Check, OneWrongElementIsFoundWhereItIs) {
  this->for_cases(70, 130, 33, [&](auto p) {
    auto check = p.checker(check_method::every_element);
    ASSERT_TRUE((*check)(p.c.data()).passed);
    auto& wrong = p.at(41, 87);
    // Less than a lost product; but more than a rounding to C's type.
    const double u = unit_roundoff<typename TypeParam::part_of_c>;
    wrong = spoiled(wrong, 1, std::max(0.001, 64 * u));
    const auto v = (*check)(p.c.data());  // with the references kept from the first time
    EXPECT_FALSE(v.passed);
    EXPECT_EQ(v.where, "element (41, 87)");
  });
}

TYPED_TEST(Check, FreivaldsFindsOneWrongElement) {
  // 64 rows are looked at in full; the others are the vectors' alone.
  this->for_cases(300, 130, 33, [&](auto p) {
    auto check = p.checker(check_method::freivalds);
    for (const auto& [i, j] : {std::pair{0, 0}, {299, 129}, {123, 77}, {201, 3}}) {
      const auto good = p.at(i, j);
      p.at(i, j) = spoiled(good, 1 << 30, 0.5);
      EXPECT_FALSE((*check)(p.c.data()).passed) << i << " " << j;
      p.at(i, j) = good;
    }
    EXPECT_TRUE((*check)(p.c.data()).passed);
  });
}

TYPED_TEST(Check, UnwrittenElementsAreFound) {
  // Poison as the harness puts it: all bits set, a NaN.
  this->for_cases(65, 66, 9, [&](auto p) {
    auto& hole = p.at(64, 65);
    std::memset(&hole, 0xff, sizeof(hole));
    EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
    EXPECT_FALSE((*p.checker(check_method::freivalds))(p.c.data()).passed);
  });
}

TEST(CheckBound, ProductInLowerPrecisionFails) {
  // f64 asked for, f32 delivered; and a sum that lost one of its products.
  gemm_case g{data_type::f64, {}, {}, {}, 80, 80, 80};
  product<f64_types> p(g, 1);
  for (auto& x : p.c) x = float(x);
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
  EXPECT_FALSE((*p.checker(check_method::freivalds))(p.c.data()).passed);

  g.type = data_type::f32;
  product<f32_types> q(g, 2);
  q.at(5, 6) -= q.a[5 * 80 + 79] * q.b[79 * 80 + 6];
  EXPECT_FALSE((*q.checker(check_method::every_element))(q.c.data()).passed);
}

template <class Types>
void expect_conjugation_is_seen() {
  for (const auto method : {check_method::every_element, check_method::freivalds}) {
    for (const auto& [computed, asked] :
         {std::pair{transpose::T, transpose::C}, {transpose::C, transpose::T}}) {
      product<Types> a({Types::type, computed, transpose::N, {}, 20, 30, 40}, 10);
      a.g.op_a = asked;
      EXPECT_FALSE((*a.checker(method))(a.c.data()).passed);
      product<Types> b({Types::type, transpose::N, computed, {}, 20, 30, 40}, 11);
      b.g.op_b = asked;
      EXPECT_FALSE((*b.checker(method))(b.c.data()).passed);
    }
  }
}

TEST(CheckBound, ConjugationIsSeen) {
  expect_conjugation_is_seen<c32_types>();
  expect_conjugation_is_seen<c64_types>();
  // Of a real A there is nothing to see.
  product<f32xc32_types> p({data_type::f32xc32, transpose::N, transpose::T, {}, 20, 30, 40}, 11);
  p.g.op_b = transpose::C;
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
}

TEST(CheckBound, ComplexProductInLowerPrecisionFails) {
  product<c64_types> p({data_type::c64, {}, {}, {}, 80, 80, 80}, 1);
  for (auto& z : p.c) z.im = float(z.im);
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
  EXPECT_FALSE((*p.checker(check_method::freivalds))(p.c.data()).passed);
}

TEST(CheckBound, InfinityFails) {
  product<f32_types> p({data_type::f32, {}, {}, {}, 4, 4, 4}, 3);
  p.at(2, 2) = std::numeric_limits<float>::infinity();
  const auto v = (*p.checker(check_method::every_element))(p.c.data());
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.where, "element (2, 2)");
}

// Sums of halves are promised in f32, with one rounding at the end.
template <class Types>
void expect_sums_in_c_fail() {
  using C = typename Types::c;
  product<Types> p({Types::type, {}, {}, {}, 80, 80, 80}, 8);
  for (std::int64_t i = 0; i < 80; ++i) {
    for (std::int64_t j = 0; j < 80; ++j) {
      C sum(0);
      for (std::int64_t k = 0; k < 80; ++k)
        sum = C(float(sum) + float(p.a[i * 80 + k]) * float(p.b[k * 80 + j]));
      p.at(i, j) = sum;
    }
  }
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
}

TEST(CheckBound, HalvesAreSummedInF32) {
  expect_sums_in_c_fail<f16_types>();
  expect_sums_in_c_fail<bf16_types>();
}

TEST(CheckBound, AFloatOfHalvesIsNotRoundedToOne) {
  product<f16_f32_types> p({data_type::f16_f32, {}, {}, {}, 80, 80, 80}, 9);
  for (auto& x : p.c) x = float16(x);
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
  EXPECT_FALSE((*p.checker(check_method::freivalds))(p.c.data()).passed);
}

// The worst that rounding may do grows faster with k than what a right result has.
template <class Types>
void expect_deep_products_are_judged(std::int64_t k, std::uint64_t seed) {
  product<Types> p({Types::type, {}, {}, {}, 4, 4, k}, seed);
  EXPECT_TRUE((*p.checker(check_method::every_element))(p.c.data()).passed);
  auto& x = p.at(1, 2);
  for (auto q = k - 64; q < k; ++q) x -= p.a[k + q] * p.b[q * 4 + 2];
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
  std::fill(p.c.begin(), p.c.end(), typename Types::c(0));
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
}
TEST(CheckBound, DeepProductsWithoutSomeTermsOrAnyFail) {
  expect_deep_products_are_judged<f32_types>(300'000, 11);
  expect_deep_products_are_judged<f64_types>(100'000, 12);
  product<bf16_f32_types> p({data_type::bf16_f32, {}, {}, {}, 4, 4, 1'000'000}, 13);
  EXPECT_TRUE((*p.checker(check_method::every_element))(p.c.data()).passed);
  std::fill(p.c.begin(), p.c.end(), 0.f);
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
}

TEST(CheckBound, AnInfiniteHalfFails) {
  for (const auto method : {check_method::every_element, check_method::freivalds}) {
    product<f16_types> p({data_type::f16, {}, {}, {}, 300, 4, 4}, 3);
    p.at(123, 2) = std::numeric_limits<float16>::infinity();
    EXPECT_FALSE((*p.checker(method))(p.c.data()).passed);
  }
}

// What tensor cores may lose of floats of eight bits is no host's to lose.
TEST(CheckBound, OnlyTensorCoresRoundProductsOfEights) {
  for (const auto method : {check_method::every_element, check_method::freivalds}) {
    product<f8_f32_types> p({data_type::f8_f32, {}, {}, {}, 4, 4, 4}, 12);
    for (auto& x : p.a) x = float8_e4m3(1);
    for (auto& x : p.b) x = float8_e4m3(1);
    p.compute();
    p.at(2, 1) += 4 * 0x1p-12f;
    for (const bool on_host : {true, false})
      EXPECT_EQ(
          (*make_gemm_check(p.g, p.a.data(), p.b.data(), nullptr, 7, on_host, method))(p.c.data()).passed,
          !on_host);
  }
}

// Blocks of many columns; one column in all, and one row.
TYPED_TEST(Check, FreivaldsTakesEveryShape) {
  for (const auto& [m, n, k] : {std::tuple{300, 40, 120}, {1, 1300, 40}, {200, 1, 90}, {130, 520, 52}}) {
    product<TypeParam> p({TypeParam::type, {}, {}, matrix_layout::left, m, n, k}, 4);
    auto check = p.checker(check_method::freivalds);
    EXPECT_TRUE((*check)(p.c.data()).passed) << m;
    auto& wrong = p.at(m - 1, n / 2);
    wrong = spoiled(wrong, 1, 1);
    EXPECT_FALSE((*check)(p.c.data()).passed) << m;
  }
}

// Only Freivalds' check names sums.
template <class Types>
std::string what_finds_a_wrong_element(std::int64_t k) {
  product<Types> p({Types::type, {}, {}, {}, 520, 520, k}, 4);
  std::string where;
  for (std::int64_t i = 200; i < 204; ++i) {  // of at least eight rows one is looked at in full
    auto& c = p.at(i, 260);
    const auto right = c;
    c = spoiled(c, 1, 1);
    where = (*make_gemm_check(p.g, p.a.data(), p.b.data(), nullptr, 5, true))(p.c.data()).where;
    if (where.starts_with("a sum")) break;
    c = right;
  }
  return where.substr(0, where.find(" ("));
}
TEST(CheckBound, AboveSoManyMultiplicationsItIsFreivalds) {
  EXPECT_EQ(what_finds_a_wrong_element<f32_types>(480), "element");
  EXPECT_EQ(what_finds_a_wrong_element<f32_types>(500), "a sum of elements from");
  EXPECT_EQ(what_finds_a_wrong_element<c32_types>(120), "element");
  EXPECT_EQ(what_finds_a_wrong_element<c32_types>(125), "a sum of elements from");
}

}  // namespace
}  // namespace keramos::perf

// The judge is judged: right results of every kind pass, a single wrong element does not.
#include "core/check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "core/random.hpp"

namespace keramos::perf {
namespace {

template <class T>
struct product {
  gemm_case g;
  std::vector<T> a, b, c0, c;

  product(gemm_case problem, std::uint64_t seed) : g(problem) {
    fill(a, g.m * g.k, seed, 1);
    fill(b, g.k * g.n, seed, 2);
    fill(c0, g.m * g.n, seed, 3);
    compute();
  }

  static void fill(std::vector<T>& x, std::int64_t n, std::uint64_t seed, std::uint64_t stream) {
    const random_stream random(seed, stream);
    for (std::int64_t i = 0; i < n; ++i) x.push_back(random.value<T>(i));
  }

  T& at(std::int64_t i, std::int64_t j) {
    const auto s = strides_of_c(g);
    return c[i * s.row + j * s.col];
  }

  // In the type itself, so with its rounding errors; integers wrap.
  void compute() {
    using sum_type = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;
    const auto sa = strides_of_op_a(g), sb = strides_of_op_b(g), sc = strides_of_c(g);
    c.assign(g.m * g.n, T(0));
    for (std::int64_t i = 0; i < g.m; ++i) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        sum_type sum = 0;
        for (std::int64_t p = 0; p < g.k; ++p) {
          sum += sum_type(a[i * sa.row + p * sa.col]) * sum_type(b[p * sb.row + j * sb.col]);
        }
        sum_type out = sum_type(T(g.alpha)) * sum;
        if (g.beta != 0) out += sum_type(T(g.beta)) * sum_type(c0[i * sc.row + j * sc.col]);
        at(i, j) = T(out);
      }
    }
  }

  std::unique_ptr<gemm_check> checker(check_method method) const {
    return make_gemm_check(g, a.data(), b.data(), g.beta != 0 ? c0.data() : nullptr, 7, method);
  }
};

// x with some bits flipped, or some amount off.
template <class T>
T spoiled(T x, int bits, double amount) {
  if constexpr (std::is_integral_v<T>) {
    return x ^ bits;
  } else {
    return x + T(amount);
  }
}

template <class T>
constexpr data_type type_of = std::is_same_v<T, float>    ? data_type::f32
                              : std::is_same_v<T, double> ? data_type::f64
                                                          : data_type::i32;

template <class T>
class Check : public testing::Test {
 protected:
  // All ops, layouts and scalars of one size, with a fresh seed.
  template <class F>
  void for_cases(std::int64_t m, std::int64_t n, std::int64_t k, F f) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    for (auto a : {transpose::N, transpose::T}) {
      for (auto b : {transpose::N, transpose::T}) {
        for (auto layout : {matrix_layout::right, matrix_layout::left}) {
          for (const double beta : {0.0, -2.0}) {
            f(product<T>({type_of<T>, a, b, layout, m, n, k, beta == 0 ? 1.0 : 3.0, beta}, seed));
          }
        }
      }
    }
  }
};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(Check, types);

TYPED_TEST(Check, RightResultsPass) {
  for (auto method : {check_method::every_element, check_method::freivalds}) {
    this->for_cases(150, 201, 77, [&](auto p) {
      const auto v = (*p.checker(method))(p.c.data());
      EXPECT_TRUE(v.passed) << v.where << " " << v.error << " > " << v.bound;
      EXPECT_LE(v.error, v.bound);
      EXPECT_EQ(v.error > 0, std::is_floating_point_v<TypeParam>);
    });
  }
}

TYPED_TEST(Check, OneWrongElementIsFoundWhereItIs) {
  this->for_cases(70, 130, 33, [&](auto p) {
    auto check = p.checker(check_method::every_element);
    ASSERT_TRUE((*check)(p.c.data()).passed);
    auto& wrong = p.at(41, 87);
    wrong = spoiled(wrong, 1, 0.001);     // less than a lost product
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
  product<double> p(g, 1);
  for (auto& x : p.c) x = float(x);
  EXPECT_FALSE((*p.checker(check_method::every_element))(p.c.data()).passed);
  EXPECT_FALSE((*p.checker(check_method::freivalds))(p.c.data()).passed);

  g.type = data_type::f32;
  product<float> q(g, 2);
  q.at(5, 6) -= q.a[5 * 80 + 79] * q.b[79 * 80 + 6];
  EXPECT_FALSE((*q.checker(check_method::every_element))(q.c.data()).passed);
}

TEST(CheckBound, InfinityFails) {
  product<float> p({data_type::f32, {}, {}, {}, 4, 4, 4}, 3);
  p.at(2, 2) = std::numeric_limits<float>::infinity();
  const auto v = (*p.checker(check_method::every_element))(p.c.data());
  EXPECT_FALSE(v.passed);
  EXPECT_EQ(v.where, "element (2, 2)");
}

TEST(CheckBound, LargeCasesOfEveryShape) {
  // Above 2^27 by default: also one where a block is one column, and one with a single row.
  for (const auto& [m, n, k] : {std::tuple{3000, 40, 1200}, {1, 13000, 10400}, {520, 520, 520}}) {
    product<float> p({data_type::f32, {}, {}, matrix_layout::left, m, n, k}, 4);
    auto check = make_gemm_check(p.g, p.a.data(), p.b.data(), nullptr, 5);
    EXPECT_TRUE((*check)(p.c.data()).passed) << m;
    p.at(m - 1, n / 2) += 1;
    EXPECT_FALSE((*check)(p.c.data()).passed) << m;
  }
}

}  // namespace
}  // namespace keramos::perf

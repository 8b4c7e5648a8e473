// The judge of batches is judged: right results pass, a single wrong element of any matrix does not, whether
// all elements are looked at or sums of them.
#include "core/batched_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/random.hpp"
#include "perf/product_types.hpp"

namespace keramos::perf {
namespace {

template <class Types>
struct batch_of_products {
  using T = typename Types::ab;
  using C = typename Types::c;

  gemm_case g;
  std::vector<T> a, b;
  std::vector<C> c0, c;

  explicit batch_of_products(const gemm_case& problem) : g(problem) {
    fill(a, g.m * g.k, 1);
    fill(b, g.k * g.n, 2);
    fill(c0, g.m * g.n, 3);
    using sum_type = typename Types::sum;
    const auto scalar = [](double x) { return sum_type(sum_t<T>(x)); };
    const auto sa = strides_of_op_a(g), sb = strides_of_op_b(g);
    c = c0;
    for (std::int64_t l = 0; l < g.batch; ++l) {
      for (std::int64_t i = 0; i < g.m; ++i) {
        for (std::int64_t j = 0; j < g.n; ++j) {
          sum_type sum = 0;
          for (std::int64_t p = 0; p < g.k; ++p) {
            sum += sum_type(a[l * g.m * g.k + i * sa.row + p * sa.col]) *
                   sum_type(b[l * g.k * g.n + p * sb.row + j * sb.col]);
          }
          C& out = at(l, i, j);
          out = C(scalar(g.alpha) * sum + (g.beta != 0 ? scalar(g.beta) * sum_type(out) : 0));
        }
      }
    }
  }

  template <class Element>
  void fill(std::vector<Element>& x, std::int64_t of_matrix, std::uint64_t stream) {
    const random_stream random(5, stream);
    for (std::int64_t i = 0; i < of_matrix * g.batch; ++i) x.push_back(random.value<Element>(i));
  }
  C& at(std::int64_t l, std::int64_t i, std::int64_t j) {
    const auto s = strides_of_c(g);
    return c[l * g.m * g.n + i * s.row + j * s.col];
  }
  verdict judge(double limit) const {
    return (*make_batched_check(g, a.data(), b.data(), c0.data(), 7, limit))(c.data());
  }
};

template <class Types>
class BatchedCheck : public testing::Test {};
TYPED_TEST_SUITE(BatchedCheck, tested_types);

TYPED_TEST(BatchedCheck, PassesWhatIsRight) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const auto op_a : {transpose::N, transpose::T})
      for (const auto op_b : {transpose::N, transpose::T})
        for (const double beta : {0.0, 2.0})
          for (const double limit : {1e9, 1.0}) {
            const batch_of_products<TypeParam> p(
                {TypeParam::type, op_a, op_b, layout, 6, 9, 13, 3, beta, 25});
            const auto v = p.judge(limit);
            EXPECT_TRUE(v.passed) << v.where;
          }
}

TYPED_TEST(BatchedCheck, FindsOneWrongElementInAnyMatrix) {
  for (const double limit : {1e9, 1.0})
    for (const std::int64_t l : {0, 11, 23, 24}) {
      batch_of_products<TypeParam> p(
          {TypeParam::type, transpose::N, transpose::T, matrix_layout::left, 6, 9, 13, 1, 0, 25});
      auto& wrong = p.at(l, 5, 2);
      using C = typename TypeParam::c;
      wrong = C(typename TypeParam::sum(wrong) + 1);
      const auto v = p.judge(limit);
      EXPECT_FALSE(v.passed);
      EXPECT_NE(v.where.find("of matrix " + std::to_string(l)), std::string::npos) << v.where;
    }
}

template <class Types>
void expect_none_finite_is_wrong() {
  using C = typename Types::c;
  for (const double limit : {1e9, 1.0}) {
    for (const C wrong : {std::numeric_limits<C>::quiet_NaN(), std::numeric_limits<C>::infinity()}) {
      batch_of_products<Types> p(
          {Types::type, transpose::N, transpose::N, matrix_layout::right, 4, 4, 4, 1, 0, 10});
      p.at(5, 1, 1) = wrong;
      EXPECT_FALSE(p.judge(limit).passed) << limit << ' ' << float(wrong);
    }
  }
}

TEST(BatchedCheckBound, NoneFiniteIsWrong) {
  expect_none_finite_is_wrong<f32_types>();
  expect_none_finite_is_wrong<f16_types>();
  expect_none_finite_is_wrong<bf16_types>();
}

}  // namespace
}  // namespace keramos::perf

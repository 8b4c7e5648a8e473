// The judge of batches is judged: right results pass, a single wrong element of any matrix does not, whether
// all elements are looked at or sums of them.
#include "core/batched_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/random.hpp"

namespace keramos::perf {
namespace {

template <class T>
struct batch_of_products {
  gemm_case g;
  std::vector<T> a, b, c0, c;

  explicit batch_of_products(const gemm_case& problem) : g(problem) {
    fill(a, g.m * g.k, 1);
    fill(b, g.k * g.n, 2);
    fill(c0, g.m * g.n, 3);
    using sum_type = std::conditional_t<std::is_integral_v<T>, std::uint32_t, T>;
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
          T& out = at(l, i, j);
          out = T(sum_type(T(g.alpha)) * sum + (g.beta != 0 ? sum_type(T(g.beta)) * sum_type(out) : 0));
        }
      }
    }
  }

  void fill(std::vector<T>& x, std::int64_t of_matrix, std::uint64_t stream) {
    const random_stream random(5, stream);
    for (std::int64_t i = 0; i < of_matrix * g.batch; ++i) x.push_back(random.value<T>(i));
  }
  T& at(std::int64_t l, std::int64_t i, std::int64_t j) {
    const auto s = strides_of_c(g);
    return c[l * g.m * g.n + i * s.row + j * s.col];
  }
  verdict judge(double limit) const {
    return (*make_batched_check(g, a.data(), b.data(), c0.data(), 7, limit))(c.data());
  }
};

template <class T>
class BatchedCheck : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(BatchedCheck, types);

template <class T>
constexpr data_type type_of = std::is_same_v<T, float>    ? data_type::f32
                              : std::is_same_v<T, double> ? data_type::f64
                                                          : data_type::i32;

TYPED_TEST(BatchedCheck, PassesWhatIsRight) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const auto op_a : {transpose::N, transpose::T})
      for (const auto op_b : {transpose::N, transpose::T})
        for (const double beta : {0.0, 2.0})
          for (const double limit : {1e9, 1.0}) {
            const batch_of_products<TypeParam> p(
                {type_of<TypeParam>, op_a, op_b, layout, 6, 9, 13, 3, beta, 25});
            const auto v = p.judge(limit);
            EXPECT_TRUE(v.passed) << v.where;
          }
}

TYPED_TEST(BatchedCheck, FindsOneWrongElementInAnyMatrix) {
  for (const double limit : {1e9, 1.0})
    for (const std::int64_t l : {0, 11, 23, 24}) {
      batch_of_products<TypeParam> p(
          {type_of<TypeParam>, transpose::N, transpose::T, matrix_layout::left, 6, 9, 13, 1, 0, 25});
      p.at(l, 5, 2) += TypeParam(1);
      const auto v = p.judge(limit);
      EXPECT_FALSE(v.passed);
      EXPECT_NE(v.where.find("of matrix " + std::to_string(l)), std::string::npos) << v.where;
    }
}

TEST(BatchedCheckNaN, IsWrong) {
  for (const double limit : {1e9, 1.0}) {
    batch_of_products<float> p(
        {data_type::f32, transpose::N, transpose::N, matrix_layout::right, 4, 4, 4, 1, 0, 10});
    p.at(5, 1, 1) = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(p.judge(limit).passed);
  }
}

}  // namespace
}  // namespace keramos::perf

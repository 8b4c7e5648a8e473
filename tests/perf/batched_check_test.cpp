// The judge of batches is judged: right results pass, a single wrong element of any matrix does not, whether
// all elements are looked at or sums of them.
#include "measure/core/batched_check.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "measure/core/random.hpp"
#include "perf/product_types.hpp"

namespace keramos::perf {
namespace {

template <class Types>
struct batch_of_products {
  using T = typename Types::number;
  using C = typename Types::c;

  gemm_case g;
  placed_problems places;
  std::vector<typename Types::a> a;
  std::vector<typename Types::b> b;
  std::vector<C> c0, c;

  explicit batch_of_products(const gemm_case& problem) : g(problem), places(g) {
    fill(a, g.a_bytes(), 1);
    fill(b, g.b_bytes(), 2);
    fill(c0, g.c_bytes(), 3);
    using sum_type = typename Types::sum;
    const auto scalar = [](double x) { return sum_type(sum_t<T>(x)); };
    c = c0;
    for (std::int64_t l = 0; l < g.batch; ++l) {
      const auto place = places[l];
      const auto one = one_of(g, place.extents);
      const auto sa = strides_of_op_a(one), sb = strides_of_op_b(one);
      for (std::int64_t i = 0; i < one.m; ++i) {
        for (std::int64_t j = 0; j < one.n; ++j) {
          sum_type sum = 0;
          for (std::int64_t p = 0; p < one.k; ++p) {
            sum += operand_value<sum_type>(g.op_a, a[place.a + i * sa.row + p * sa.col]) *
                   operand_value<sum_type>(g.op_b, b[place.b + p * sb.row + j * sb.col]);
          }
          C& out = at(l, i, j);
          out = C(scalar(g.alpha) * sum + (g.beta != 0 ? scalar(g.beta) * sum_type(out) : 0));
        }
      }
    }
  }

  template <class Element>
  void fill(std::vector<Element>& x, std::size_t bytes, std::uint64_t stream) {
    const random_stream random(5, stream);
    for (std::size_t i = 0; i < bytes / sizeof(Element); ++i) x.push_back(random.value<Element>(i));
  }
  C& at(std::int64_t l, std::int64_t i, std::int64_t j) {
    const auto s = strides_of_c(one_of(g, places[l].extents));
    return c[places[l].c + i * s.row + j * s.col];
  }
  verdict judge(double limit) const {
    return (*make_batched_check(g, a.data(), b.data(), c0.data(), 7, true, limit))(c.data());
  }
};

template <class Types>
class BatchedCheck : public testing::Test {};
TYPED_TEST_SUITE(BatchedCheck, tested_types);

TYPED_TEST(BatchedCheck, PassesWhatIsRight) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const auto op_a : all_ops)
      for (const auto op_b : all_ops)
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
      wrong = spoiled(wrong, 1, 1);
      const auto v = p.judge(limit);
      EXPECT_FALSE(v.passed);
      const std::string matrix = " of matrix " + std::to_string(l);
      const bool is_sum = v.where.starts_with("a sum");
      EXPECT_EQ(v.where, (is_sum ? "a sum of elements from (0, 2)" : "element (5, 2)") + matrix);
    }
}

gemm_case list_of(data_type type, matrix_layout layout, double beta) {
  gemm_case g{type, transpose::T, transpose::N, layout};
  g.alpha = 3, g.beta = beta;
  g.make_grouped("list", {{6, 9, 13}, {0, 9, 13}, {40, 3, 5}, {1, 20, 7}, {2, 1, 1}});
  return g;
}

TYPED_TEST(BatchedCheck, PassesListsThatAreRight) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const double beta : {0.0, 2.0})
      for (const double limit : {1e9, 1.0}) {
        const batch_of_products<TypeParam> p(list_of(TypeParam::type, layout, beta));
        const auto v = p.judge(limit);
        EXPECT_TRUE(v.passed) << v.where;
      }
}

// With a low limit two rows of each are judged by their elements, and the others by sums.
TYPED_TEST(BatchedCheck, FindsOneWrongElementInAnyMatrixOfAList) {
  for (const auto layout : {matrix_layout::right, matrix_layout::left})
    for (const double limit : {1e9, 1.0})
      for (const std::int64_t l : {0, 2, 3, 4}) {
        batch_of_products<TypeParam> p(list_of(TypeParam::type, layout, 0));
        const auto row = p.places[l].extents.m / 2, col = p.places[l].extents.n / 2;
        auto& wrong = p.at(l, row, col);
        wrong = spoiled(wrong, 1, 1);
        const auto v = p.judge(limit);
        EXPECT_FALSE(v.passed);
        EXPECT_TRUE(v.where.ends_with(" of matrix " + std::to_string(l))) << v.where;
        EXPECT_TRUE(limit == 1 || v.where.starts_with("element")) << v.where;
      }
}

template <class Types>
void expect_none_finite_is_wrong() {
  using part = typename Types::part_of_c;
  for (const double limit : {1e9, 1.0}) {
    for (const part wrong : {std::numeric_limits<part>::quiet_NaN(), std::numeric_limits<part>::infinity()}) {
      batch_of_products<Types> p(
          {Types::type, transpose::N, transpose::N, matrix_layout::right, 4, 4, 4, 1, 0, 10});
      p.at(5, 1, 1) = wrong;
      EXPECT_FALSE(p.judge(limit).passed) << limit << ' ' << float(wrong);
    }
  }
}

TEST(BatchedCheckBound, NoneFiniteIsWrong) {
  expect_none_finite_is_wrong<f32_types>();
  expect_none_finite_is_wrong<c64_types>();
  expect_none_finite_is_wrong<f16_types>();
  expect_none_finite_is_wrong<bf16_types>();
}

TEST(BatchedCheckBound, AForgottenConjugationFails) {
  for (const double limit : {1e9, 1.0})
    for (const auto& [conjugated, plain] :
         {std::pair{transpose::C, transpose::T}, {transpose::T, transpose::C}}) {
      batch_of_products<c32_types> p(
          {data_type::c32, transpose::N, conjugated, matrix_layout::left, 4, 5, 6, 1, 0, 10});
      p.g.op_b = plain;
      EXPECT_FALSE(p.judge(limit).passed);
    }
}

// Of matrices that are copied by several threads, each of which copies a part.
TEST(BatchedCheckBound, LargeMatrices) {
  batch_of_products<c32_types> p(
      {data_type::c32, transpose::T, transpose::C, matrix_layout::right, 3, 300, 300, 1, 0, 2});
  EXPECT_TRUE(p.judge(1e9).passed);
  p.at(1, 2, 299) = spoiled(p.at(1, 2, 299), 1, 0.01);
  EXPECT_EQ(p.judge(1e9).where, "element (2, 299) of matrix 1");
}

}  // namespace
}  // namespace keramos::perf

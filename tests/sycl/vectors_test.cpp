// A matrix times a vector, and batches of small matrices, on SYCL's backend, beside plain loops.
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "arguments.hpp"
#include "program.hpp"
#include "values.hpp"

namespace keramos::test::device {
namespace {

template <class Types>
class SyclVectors : public testing::Test {
 protected:
  using A = typename Types::a;
  using B = typename Types::b;
  using C = typename Types::c;

  static void SetUpTestSuite() {
    program_ = std::make_unique<program>(
        "vectors.cpp", std::vector<std::string>{std::string("KERAMOS_TYPE=") + Types::name});
  }
  static void TearDownTestSuite() { program_.reset(); }

  static void multiply(bool along_k, bool in_vectors, int rows_of_team, std::int64_t m, std::int64_t k,
                       std::int64_t k_per_part = 0) {
    const auto name = std::string("vector_") + (along_k ? "k_" : "mn_") + (in_vectors ? "16" : "1");
    SCOPED_TRACE(std::string(Types::name) + " " + name + ": " + std::to_string(m) + " x " +
                 std::to_string(k) + ", parts of " + std::to_string(k_per_part));
    auto& q = program_->queue();
    std::mt19937 random(unsigned(m * 31 + k));
    const matrix<A> a(q, m, k, along_k, in_vectors, random);
    const matrix<B> b(q, k, 1, true, false, random);
    const matrix<C> c(q, m, 1, true, false, random);
    product p = product_of(a, b, c, m, 1, k);
    const std::int64_t teams = (m + rows_of_team - 1) / rows_of_team;
    const meeting parts(q, p, teams, 1024, k_per_part);
    expectation<Types> expected(c);
    expected.multiply(p);
    program_->on_teams(name, int(teams * p.parts), 256, p, rows_of_team);
    expected.check();
    parts.check();
  }

  static std::unique_ptr<program> program_;
};
template <class Types>
std::unique_ptr<program> SyclVectors<Types>::program_;

using vector_types = testing::Types<of::f32, of::f64>;
TYPED_TEST_SUITE(SyclVectors, vector_types, names_of_types);

TYPED_TEST(SyclVectors, AMatrixTimesAVector) {
  for (const bool along_k : {false, true})
    for (const bool in_vectors : {false, true})
      for (const int rows_of_team : {32, 128}) {
        this->multiply(along_k, in_vectors, rows_of_team, 4 * rows_of_team, 320);
        this->multiply(along_k, in_vectors, rows_of_team, 2 * rows_of_team + 4, 77);
        this->multiply(along_k, in_vectors, rows_of_team, 3, 1);
        this->multiply(along_k, in_vectors, rows_of_team, rows_of_team + 1, 500, 96);
      }
}

TYPED_TEST(SyclVectors, SmallBatches) {
  using A = typename TypeParam::a;
  auto& q = this->program_->queue();
  const shared<small> kernels(q, std::size_t(most_small_rows * small_accesses), small{});
  this->program_->once("describe", kernels.data());
  int count = 0;
  for (int i = 0; i < most_small_rows * small_accesses; ++i) {
    const small& kernel = kernels[std::size_t(i)];
    if (kernel.team_size == 0) continue;
    ++count;
    const int access = i % small_accesses;
    const auto name = "small_" + std::to_string(i / small_accesses) + "_" + std::to_string(access);
    for (const int less : {0, 1}) {
      SCOPED_TRACE(std::string(TypeParam::name) + " " + name + ", less " + std::to_string(less));
      const std::int64_t m = kernel.size - less, n = kernel.size, k = kernel.size + 3 - less, problems = 37;
      const bool in_vectors = (access & 4) != 0, a_along_k = (access & 1) != 0, b_along_k = (access & 2) != 0;
      std::mt19937 random(unsigned(i * 2 + less));
      // One behind the other: a tall matrix of rows, or a wide one of columns.
      const matrix<A> a(q, a_along_k ? m * problems : m, a_along_k ? k : k * problems, a_along_k, in_vectors,
                        random);
      const matrix<A> b(q, b_along_k ? k : k * problems, b_along_k ? n * problems : n, !b_along_k, in_vectors,
                        random);
      const matrix<A> c(q, m * problems, n, true, in_vectors, random);
      product p = product_of(a, b, c, m, n, k);
      p.count = problems;
      p.a_step = a_along_k ? m * a.row_stride : k * a.col_stride;
      p.b_step = b_along_k ? n * b.col_stride : k * b.row_stride;
      p.c_step = m * c.row_stride;
      expectation<TypeParam> expected(c);
      for (std::int64_t e = 0; e < problems; ++e)
        expected.multiply(p, e * p.a_step, e * p.b_step, e * p.c_step);
      this->program_->on_teams(name, int((problems + kernel.problems - 1) / kernel.problems),
                               kernel.team_size, p);
      expected.check();
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace keramos::test::device

// Products of the GPUs' collective on SYCL's backend, beside plain loops: each row of the tile table, each layout of the
// operands.
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
class SyclProducts : public testing::Test {
 protected:
  using A = typename Types::a;
  using B = typename Types::b;
  using C = typename Types::c;
  using sum = typename Types::sum;

  static void SetUpTestSuite() {
    program_ = std::make_unique<program>("products.cpp", std::string("KERAMOS_TYPE=") + Types::name);
    tiles_ = std::make_unique<shared<tile>>(program_->queue(), std::size_t(most_rows * accesses), tile{});
    program_->once("describe", tiles_->data());
  }
  static void TearDownTestSuite() { tiles_.reset(), program_.reset(); }

  // f(number of the kernel, its tile) for each kernel; returns how many there are.
  template <class F>
  static int each_kernel(const F& f) {
    int count = 0;
    for (int i = 0; i < most_rows * accesses; ++i)
      if ((*tiles_)[std::size_t(i)].team_size > 0) ++count, f(i, (*tiles_)[std::size_t(i)]);
    return count;
  }

  // k is cut into parts of so many, or not if that is 0.
  static void multiply(int kernel, const tile& t, std::int64_t m, std::int64_t n, std::int64_t k, double beta,
                       std::int64_t k_per_part = 0) {
    const int access = kernel % accesses;
    const auto name = "product_" + std::to_string(kernel / accesses) + "_" + std::to_string(access);
    SCOPED_TRACE(std::string(Types::name) + " " + name + ": " + std::to_string(m) + " x " +
                 std::to_string(n) + " x " + std::to_string(k) + ", parts of " + std::to_string(k_per_part));
    auto& q = program_->queue();
    const bool in_vectors = (access & 4) != 0;
    std::mt19937 random(unsigned(m * 31 + n * 7 + k + kernel));
    const matrix<A> a(q, m, k, (access & 1) != 0, in_vectors, random);
    const matrix<B> b(q, k, n, (access & 2) == 0, in_vectors, random);
    const matrix<C> c =
        beta != 0 ? matrix<C>(q, m, n, n % 2 == 0, false, random) : matrix<C>(q, m, n, n % 2 == 0, false);

    const std::int64_t tiles = (m + t.block_m - 1) / t.block_m * ((n + t.block_n - 1) / t.block_n);
    product p = product_of(a, b, c, m, n, k);
    p.a_other = (access & 8) != 0;
    p.beta = beta;
    const meeting parts(q, p, tiles, t.block_m * t.block_n, k_per_part);
    expectation<Types> expected(c);
    expected.multiply(p);
    program_->on_teams(name, int(tiles * p.parts), t.team_size, p);
    expected.check();
    parts.check();
  }

  static std::unique_ptr<program> program_;
  static std::unique_ptr<shared<tile>> tiles_;
};
template <class Types>
std::unique_ptr<program> SyclProducts<Types>::program_;
template <class Types>
std::unique_ptr<shared<tile>> SyclProducts<Types>::tiles_;

using all_types = testing::Types<of::f32, of::f64, of::i32, of::i8_i32, of::c32, of::c64, of::f16,
                                 of::bf16_f32, of::f8_f32, of::f16xf32, of::f32xc32>;
TYPED_TEST_SUITE(SyclProducts, all_types, names_of_types);

TYPED_TEST(SyclProducts, WholeTilesAndEdges) {
  const int kernels = this->each_kernel([&](int kernel, const tile& t) {
    this->multiply(kernel, t, 2 * t.block_m, t.block_n, 4 * t.block_k, 0);
    this->multiply(kernel, t, t.block_m + 5, 2 * t.block_n - 3, 3 * t.block_k + 1, -1);
    this->multiply(kernel, t, 1, 1, 1, -1);
    this->multiply(kernel, t, 3, t.block_n + 1, 2 * t.block_k - 1, 0);
  });
  EXPECT_GT(kernels, 0);
}

TYPED_TEST(SyclProducts, KInParts) {
  this->each_kernel([&](int kernel, const tile& t) {
    if (t.splits_k)
      for (int parts : {2, 5})
        this->multiply(kernel, t, t.block_m + 1, t.block_n, 2 * parts * t.block_k - 3, -1, 2 * t.block_k);
  });
}

}  // namespace
}  // namespace keramos::test::device

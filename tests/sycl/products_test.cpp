// Products of the GPUs' collective on SYCL's backend, beside plain loops: each row of the tile table, each layout of the
// operands; on FMA units, and on matrix units where the device says that it has them for the type.
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "arguments.hpp"
#include "program.hpp"
#include "values.hpp"

namespace keramos::test::device {
namespace {

namespace in_sycl = ::sycl::ext::oneapi::experimental::matrix;

/// The kernels of a type, of which those for matrix units are compiled at any rate and are there to be run if the device has
/// such.
template <class Types, bool OnMatrixUnits>
class products : public testing::Test {
 protected:
  using A = typename Types::a;
  using B = typename Types::b;
  using C = typename Types::c;
  using sum = typename Types::sum;

  static void SetUpTestSuite() {
    std::vector<std::string> definitions{std::string("KERAMOS_TYPE=") + Types::name};
    if (OnMatrixUnits) definitions.push_back("KERAMOS_SYCL_UNITS=2");
    program_ = std::make_unique<program>("products.cpp", definitions);
    if (!can_run()) return;
    tiles_ = std::make_unique<shared<tile>>(program_->queue(), std::size_t(most_rows * accesses), tile{});
    program_->once("describe", tiles_->data());
  }
  static void TearDownTestSuite() { tiles_.reset(), program_.reset(); }

  static bool can_run() {
    if constexpr (OnMatrixUnits)
      return has_matrix_units(program_->queue(), Types::element_of_units);
    else
      return true;
  }
  static constexpr const char* not_run = "compiled, not run: the device has no matrix units for the type";

  // f(number of the kernel, its tile) for each kernel; returns how many there are.
  template <class F>
  static int each_kernel(const F& f) {
    int count = 0;
    for (int i = 0; i < most_rows * accesses; ++i)
      if ((*tiles_)[std::size_t(i)].team_size > 0) ++count, f(i, (*tiles_)[std::size_t(i)]);
    return count;
  }

  // k is cut into parts of so many, or not if that is 0; of bytes each mix of kinds takes its turn.
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
    if constexpr (std::is_same_v<A, std::int8_t>)
      p.a_other = random() % 2 != 0, p.b_other = random() % 2 != 0;
    p.beta = beta;
    const meeting parts(q, p, tiles, t.block_m * t.block_n, k_per_part);
    expectation<Types> expected(c);
    expected.multiply(p);
    if (OnMatrixUnits)
      program_->on_teams_of_lanes(name, int(tiles * p.parts), t.team_size, p);
    else
      program_->on_teams(name, int(tiles * p.parts), t.team_size, p);
    expected.check();
    parts.check();
  }

  static void whole_tiles_and_edges() {
    const int kernels = each_kernel([](int kernel, const tile& t) {
      multiply(kernel, t, 2 * t.block_m, t.block_n, 4 * t.block_k, 0);
      multiply(kernel, t, t.block_m + 5, 2 * t.block_n - 3, 3 * t.block_k + 1, -1);
      multiply(kernel, t, 1, 1, 1, -1);
      multiply(kernel, t, 3, t.block_n + 1, 2 * t.block_k - 1, 0);
    });
    EXPECT_GT(kernels, 0);
  }
  static void k_in_parts() {
    each_kernel([](int kernel, const tile& t) {
      if (t.splits_k)
        for (int parts : {2, 5})
          multiply(kernel, t, t.block_m + 1, t.block_n, 2 * parts * t.block_k - 3, -1, 2 * t.block_k);
    });
  }

 private:
  static std::unique_ptr<program> program_;
  static std::unique_ptr<shared<tile>> tiles_;
};
template <class Types, bool OnMatrixUnits>
std::unique_ptr<program> products<Types, OnMatrixUnits>::program_;
template <class Types, bool OnMatrixUnits>
std::unique_ptr<shared<tile>> products<Types, OnMatrixUnits>::tiles_;

template <class Types>
class SyclProducts : public products<Types, false> {};
template <class Types>
class SyclMatrixProducts : public products<Types, true> {};

using all_types = testing::Types<of::f32, of::f64, of::i32, of::i8_i32, of::c32, of::c64, of::f16,
                                 of::bf16_f32, of::f8_f32, of::f16xf32, of::f32xc32>;
TYPED_TEST_SUITE(SyclProducts, all_types, names_of_types);

template <class Types, in_sycl::matrix_type Element>
struct in_units : Types {
  static constexpr in_sycl::matrix_type element_of_units = Element;
};
using matrix_types = testing::Types<
    in_units<of::bf16_f32, in_sycl::matrix_type::bf16>, in_units<of::f16, in_sycl::matrix_type::fp16>,
    in_units<of::i8_i32, in_sycl::matrix_type::sint8>, in_units<of::tf32, in_sycl::matrix_type::tf32>>;
TYPED_TEST_SUITE(SyclMatrixProducts, matrix_types, names_of_types);

TYPED_TEST(SyclProducts, WholeTilesAndEdges) { this->whole_tiles_and_edges(); }
TYPED_TEST(SyclProducts, KInParts) { this->k_in_parts(); }

TYPED_TEST(SyclMatrixProducts, WholeTilesAndEdges) {
  if (!this->can_run()) GTEST_SKIP() << this->not_run;
  this->whole_tiles_and_edges();
}
TYPED_TEST(SyclMatrixProducts, KInParts) {
  if (!this->can_run()) GTEST_SKIP() << this->not_run;
  this->k_in_parts();
}

}  // namespace
}  // namespace keramos::test::device

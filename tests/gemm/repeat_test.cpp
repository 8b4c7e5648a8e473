// The same call gives the same bits: for each of the library's types, with operands elsewhere in memory, aligned alike, and with
// other calls in between, of the same queue and of another. All forms of calls, and shapes for each path of a product.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "batched_case.hpp"
#include "repeat_case.hpp"

namespace keramos::test {
namespace {

/// One of the library's types, and elements of callers that have it.
template <class Types, class A, class B = A, class C = A, gemm_compute Compute = gemm_compute::standard>
struct repeated {
  using types = Types;
  using a = A;
  using b = B;
  using c = C;
  static constexpr gemm_compute compute = Compute;
};
template <class... Of>
struct repeated_types {
  using tests = testing::Types<Of...>;
  using known = detail::types_list<typename Of::types...>;
};
using all = repeated_types<
    repeated<types::f32, float>, repeated<types::tf32, float, float, float, gemm_compute::tf32>,
    repeated<types::f32_emulated, float, float, float, gemm_compute::f32_emulated>,
    repeated<types::f64, double>,
    repeated<types::f64_emulated, double, double, double, gemm_compute::f64_emulated>,
    repeated<types::i32, std::int32_t>, repeated<types::i8_i32, std::int8_t, std::uint8_t, std::int32_t>,
    repeated<types::i8, std::uint8_t, std::int8_t, std::int8_t>, repeated<types::c32, Kokkos::complex<float>>,
    repeated<types::c64, Kokkos::complex<double>>, repeated<types::f16, float16>,
    repeated<types::f16_f32, float16, float16, float>, repeated<types::bf16, bfloat16>,
    repeated<types::bf16_f32, bfloat16, bfloat16, float>,
    repeated<types::f8_f16, float8_e4m3, float8_e5m2, float16>,
    repeated<types::f8_bf16, float8_e5m2, float8_e4m3, bfloat16>,
    repeated<types::f8_f32, float8_e4m3, float8_e4m3, float>, repeated<types::f16xf32, float, float16, float>,
    repeated<types::bf16xf32, bfloat16, float, float>,
    repeated<types::f32xc32, float, Kokkos::complex<float>, Kokkos::complex<float>>,
    repeated<types::f64xc64, Kokkos::complex<double>, double, Kokkos::complex<double>>>;
static_assert(std::is_same_v<all::known, detail::known_types>, "a type of the library has no line here");

template <class Of>
class GemmRepeat : public testing::Test {
 protected:
  using A = typename Of::a;
  using B = typename Of::b;
  using C = typename Of::c;
  static constexpr bool on_host = backend::traits<default_execution_space>::is_host;
  static constexpr auto alpha = scaled_as<double, C>(scale_to<C>);

  /// `count` products; `call(queue, A, B, C)` does them, with operands at one or the other address.
  void expect_same(index_t count, index_t m, index_t n, index_t k,
                   const std::function<void(queue&, A*, B*, C*)>& call) {
    std::mt19937_64 rng(fresh_seed());
    const moved a = moved::random<A>(count * m * k, rng), b = moved::random<B>(count * k * n, rng),
                c(std::size_t(count * m * n) * sizeof(C));
    const std::string what = std::to_string(count) + " of " + std::to_string(m) + 'x' + std::to_string(n) +
                             'x' + std::to_string(k);
    expect_same_bits(c, what, [&](queue& q, bool elsewhere) {
      call(q, a.at<A>(elsewhere), b.at<B>(elsewhere), c.at<C>(elsewhere));
    });
  }
};
TYPED_TEST_SUITE(GemmRepeat, all::tests);

// Tiny, in place, in tiles, with k in parts, with a vector.
TYPED_TEST(GemmRepeat, Products) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  if (TypeParam::compute == gemm_compute::tf32 && this->on_host) return;  // refused there
  constexpr index_t shapes[][3] = {{4, 5, 6},      {40, 50, 30},    {233, 244, 700},
                                   {64, 64, 9000}, {16, 16, 30000}, {33, 9, 20000},
                                   {300, 1, 3000}, {1, 70, 5000},   {1, 1, 20000}};
  std::set<gemm_path> paths;
  bool splits = false;
  for (const auto& [m, n, k] : shapes) {
    std::vector<gemm_plan> plans;
    this->expect_same(1, m, n, k, [&, m = m, n = n, k = k](queue& q, A* a, B* b, C* c) {
      const auto x = matrix_view<A>::row_major(a, m, k);
      const auto y = matrix_view<B>::row_major(b, k, n);
      const auto z = matrix_view<C>::row_major(c, m, n);
      plans.push_back(plan_gemm(q, x, y, z, {.compute = TypeParam::compute}));
      gemm(q, this->alpha, x, y, 0, z, {.compute = TypeParam::compute});
    });
    if (this->HasFatalFailure()) return;
    for (const gemm_plan& plan : plans) {
      EXPECT_EQ(plan, plans[0]) << to_string(plan) << "\n" << to_string(plans[0]);
      for (int i = 0; i < plan.size; ++i)
        paths.insert(plan.parts[i].path), splits |= plan.parts[i].split.parts > 1;
    }
  }
  // So that the shapes above are met by what they are for. Hosts divide k among threads, and only where they do not pack.
  EXPECT_TRUE(paths.contains(gemm_path::tiled));
  if (this->on_host && TypeParam::types::uniform) {
    EXPECT_TRUE(paths.contains(gemm_path::unpacked));
  }
  if (!this->on_host) {
    EXPECT_TRUE(splits);
    EXPECT_TRUE(paths.contains(gemm_path::vector));
  }
}

// Small ones and larger ones: strided, by pointers, and listed.
TYPED_TEST(GemmRepeat, Batches) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  if (TypeParam::compute == gemm_compute::tf32 && this->on_host) return;  // refused there
  constexpr index_t count = 40;
  const gemm_batched_options options{.compute = TypeParam::compute};
  for (const index_t n : {8, 23, 70}) {
    const auto one = [n](auto* data, index_t i = 0) {
      return matrix_view<std::remove_pointer_t<decltype(data)>>::row_major(data + i * n * n, n, n);
    };
    const auto batch = [&](auto* data) {
      return batched_matrix_view<std::remove_pointer_t<decltype(data)>>::strided(one(data), count, n * n);
    };
    const auto list = [&](auto* data) {
      std::vector<decltype(one(data))> all;
      for (index_t i = 0; i < count; ++i) all.push_back(one(data, i));
      return all;
    };
    this->expect_same(count, n, n, n, [&](queue& q, A* a, B* b, C* c) {
      gemm_batched(q, this->alpha, batch(a), batch(b), 0, batch(c), options);
    });
    if (this->HasFatalFailure()) return;
    this->expect_same(count, n, n, n, [&](queue& q, A* a, B* b, C* c) {
      const stored_addresses<A> av(batch(a));
      const stored_addresses<B> bv(batch(b), true);
      const stored_addresses<C> cv(batch(c));
      gemm_batched(q, this->alpha, av.array, bv.array, 0, cv.array, options)
          .wait();  // as long as there are the addresses
    });
    if (this->HasFatalFailure()) return;
    this->expect_same(count, n, n, n, [&](queue& q, A* a, B* b, C* c) {
      gemm_batched(q, this->alpha, list(a), list(b), 0, list(c), options);
    });
    if (this->HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace keramos::test

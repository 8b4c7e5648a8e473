// Sixteen-bit numbers of compilers, vendors and Kokkos are elements like the library's own, of the same bits.
#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <type_traits>
#include <vector>

#include "gemm_case.hpp"

namespace keramos::test {
namespace {

template <class Name>
class GemmOtherHalves : public testing::Test {};

// Wrapped, since libstdc++ knows no typeid of some of them. Where Kokkos has none of its own, its types are float, which is
// right as well.
template <class T>
using name = std::type_identity<T>;
using others = testing::Types<
#if defined(__CUDACC__)
    name<__half>, name<__nv_bfloat16>,
#endif
#if defined(__FLT16_MAX__) && !defined(__CUDACC__)
    name<_Float16>,
#endif
#if defined(__BFLT16_MAX__) && !defined(__CUDACC__)
    name<__bf16>,
#endif
#if KOKKOS_VERSION >= 30600
    name<Kokkos::Experimental::bhalf_t>,
#endif
    name<Kokkos::Experimental::half_t>>;
TYPED_TEST_SUITE(GemmOtherHalves, others);

/// `count` matrices of rows x cols, one after the other.
template <class T>
stored_matrix<T> filled(index_t count, index_t rows, index_t cols, std::uint64_t seed) {
  stored_matrix<T> x(count * rows, cols, layout::right, 0, 0);
  std::mt19937_64 rng(seed);
  x.fill_all([&] { return random_value<T>(rng); });
  x.upload();
  return x;
}

/// The matrices of `x` with elements that are called T.
template <class T, class Own>
batched_matrix_view<T> batch_of(const stored_matrix<Own>& x, index_t count) {
  const index_t rows = x.view.rows / count, cols = x.view.cols;
  return {reinterpret_cast<T*>(x.view.data), count, rows, cols, rows * cols, cols, 1};
}
template <class T, class Own>
matrix_view<T> first_of(const stored_matrix<Own>& x, index_t count) {
  return {reinterpret_cast<T*>(x.view.data), x.view.rows / count, x.view.cols, x.view.cols, 1};
}

template <class T>
std::vector<T> content(stored_matrix<T>& x) {
  x.download();
  return {x.host.data(), x.host.data() + x.host.extent(0)};
}

// The same memory under both names gives the same bits, alone and in batches, in C of that type or of float.
TYPED_TEST(GemmOtherHalves, AreMultipliedAsTheLibrarysOwn) {
  using other = typename TypeParam::type;
  using own = typename detail::kernel_type_of<detail::scalar_type_of<other>::value>::type;
  static_assert(sizeof(own) == sizeof(other));
  constexpr index_t count = 3, m = 45, n = 37, k = 61;
  const std::uint64_t seed = fresh_seed();
  const auto a = filled<own>(count, m, k, seed), b = filled<own>(count, k, n, seed + 1);
  const auto c = [&]<class T>(T) { return filled<T>(count, m, n, seed + 2); };
  queue q;
  const auto multiply = [&]<class T>(T, auto& single, auto& batched, auto& wide) {
    gemm(q, 1.5, first_of<T>(a, count), first_of<T>(b, count), 0.5, first_of<T>(single, count));
    gemm_batched(q, 1.5, batch_of<T>(a, count), batch_of<T>(b, count), 0.5, batch_of<T>(batched, count));
    gemm(q, 1.5, first_of<T>(a, count), first_of<T>(b, count), 0.5, wide.view);
    q.wait();
  };
  auto single = c(own()), batched = c(own());
  auto wide = filled<float>(1, m, n, seed + 3);
  multiply(own(), single, batched, wide);
  auto other_single = c(own()), other_batched = c(own());
  auto other_wide = filled<float>(1, m, n, seed + 3);
  multiply(other(), other_single, other_batched, other_wide);
  const auto same = [](auto& x, auto& y) {
    const auto u = content(x), v = content(y);
    return std::memcmp(u.data(), v.data(), u.size() * sizeof(u[0])) == 0;
  };
  EXPECT_TRUE(same(single, other_single));
  EXPECT_TRUE(same(batched, other_batched));
  EXPECT_TRUE(same(wide, other_wide));
  auto before = c(own());
  EXPECT_FALSE(same(single, before));
}

}  // namespace
}  // namespace keramos::test

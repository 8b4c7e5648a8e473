// Warpgroups of CUDA: barriers that hand stages from one side to the other, and products from local memory against a plain
// loop. Elements are small whole numbers, so that sums are exact.
#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ARCH_HOPPER90)  // else warpgroups.cpp is not compiled (backends/cuda/warpgroups.cmake)

#include <cstdint>

#include <gtest/gtest.h>

#include <keramos/enabled_backends.hpp>

#include "elements.hpp"
#include "warpgroups.hpp"

namespace keramos::test {
namespace {

/// Kernels for 9.0 run there alone.
bool has_warpgroups(const Kokkos::Cuda& exec) { return backend::tiles<Kokkos::Cuda>::arch(exec) == 90; }

TEST(CudaWarpgroups, StagesAreHandedOver) {
  const Kokkos::Cuda exec;
  if (!has_warpgroups(exec)) GTEST_SKIP() << "not of compute capability 9.0";
  constexpr int width = 128;
  for (const bool by_one_thread : {false, true})
    for (const int count : {1, 2, 3, 4, 5, 8, 1000}) {  // fewer than there are stages, and many times as many
      const pinned<int> to(count * width, 0);
      const Kokkos::View<int*, Kokkos::CudaHostPinnedSpace> from("from", count * width);
      for (int i = 0; i < count * width; ++i) from(i) = i * 3 + 1;
      hand_over(exec, from.data(), to.data(), count, by_one_thread);
      for (int i = 0; i < count * width; ++i)
        ASSERT_EQ(to[i], from(i / width * width + (i + 1) % width))
            << "stage " << i / width << " of " << count << (by_one_thread ? ", copied by one thread" : "");
    }
}

template <class E, class T>
void test_product(bool along_mn, bool kind_a, bool kind_b) {
  constexpr int m = 64, n = 128, k = 128 / int(sizeof(E));
  const pinned<E> a(m * k, 1), b(n * k, 5);
  const pinned<T> d(m * n, 9);
  multiply(Kokkos::Cuda(), a.data(), b.data(), d.data(), along_mn, kind_a, kind_b);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum = 0;
      for (int q = 0; q < k; ++q) sum += number<T>(a[i * k + q], kind_a) * number<T>(b[j * k + q], kind_b);
      ASSERT_EQ(d[i * n + j], sum) << i << ", " << j << (along_mn ? ", along m and n" : "")
                                   << (kind_a ? ", second kind of A" : "") << (kind_b ? ", of B" : "");
    }
}

TEST(CudaWarpgroups, ProductsAreExact) {
  if (!has_warpgroups(Kokkos::Cuda())) GTEST_SKIP() << "not of compute capability 9.0";
  for (const bool along_mn : {false, true}) {
    test_product<float, float>(along_mn, false, false);
    test_product<float16, float>(along_mn, false, false);
    test_product<bfloat16, float>(along_mn, false, false);
  }
  for (const bool kind_a : {false, true})
    for (const bool kind_b : {false, true}) {
      test_product<integer8, std::uint32_t>(false, kind_a, kind_b);
      test_product<float8, float>(false, kind_a, kind_b);
    }
}

}  // namespace
}  // namespace keramos::test

#endif

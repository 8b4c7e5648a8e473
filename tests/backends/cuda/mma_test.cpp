// The multiply atom of CUDA: each of its products on one warp against a plain loop. Elements are small whole numbers, so that
// sums are exact.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <type_traits>

#include <keramos/enabled_backends.hpp>

#include "elements.hpp"

namespace keramos::test {
namespace {

using mma = backend::mma<Kokkos::Cuda>;
using member = Kokkos::TeamPolicy<Kokkos::Cuda>::member_type;

template <class Kernel>
void run_warp(const Kernel& kernel) {
  Kokkos::parallel_for(
      "run_warp", Kokkos::TeamPolicy<Kokkos::Cuda>(1, 32).set_scratch_size(0, Kokkos::PerTeam(4096)), kernel);
  Kokkos::fence();
}

bool has_units(int arch) {
  const Kokkos::Cuda exec;
  return mma::matrix_unit_works(exec) && backend::tiles<Kokkos::Cuda>::arch(exec) >= arch;
}

/// A (16 x K) times B (K x 8), added to D.
template <class T, int K>
struct product_16x8 {
  const T *a, *b;
  T* d;

  KERAMOS_FUNCTION void operator()(const member& team) const {
    const int lane = team.team_rank(), g = lane / 4, t = lane % 4;
    T a_frag[K / 2], b_frag[K / 4], sums[2][2];
    for (int v = 0; v < K / 2; ++v) a_frag[v] = mma::rounded(a[(g + v % 2 * 8) * K + t + v / 2 * 4]);
    for (int v = 0; v < K / 4; ++v) b_frag[v] = mma::rounded(b[(t + v * 4) * 8 + g]);
    for (int i = 0; i < 4; ++i) sums[i / 2][i % 2] = d[(g + i / 2 * 8) * 8 + 2 * t + i % 2];
    mma::multiply_16x8(sums, a_frag, b_frag);
    for (int i = 0; i < 4; ++i) d[(g + i / 2 * 8) * 8 + 2 * t + i % 2] = sums[i / 2][i % 2];
  }
};

template <class T, int K>
void test_16x8() {
  const pinned<T> a(16 * K, 1), b(K * 8, 5), d(16 * 8, 9);
  const auto before = d.copy();
  run_warp(product_16x8<T, K>{a.data(), b.data(), d.data()});
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      T sum = before[i * 8 + j];
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * 8 + j];
      ASSERT_EQ(d[i * 8 + j], sum) << "K = " << K << " at " << i << ", " << j;
    }
}

TEST(CudaMma, DoublesAndTf32) {
  if (!has_units(80)) GTEST_SKIP() << "no matrix units";
  test_16x8<double, 4>();
  test_16x8<double, 8>();
  test_16x8<double, 16>();
  test_16x8<float, 8>();
}

/// A (16 x k) times the transpose of B (16 x k), 32 bytes of each row; loaded as it lies along k, or along m and n.
template <class E, class T, bool Transposed, bool KindA, bool KindB>
struct product_short {
  static constexpr int chunk = 16 / int(sizeof(E)), k = 2 * chunk;
  const E *a, *b;
  T* d;

  KERAMOS_FUNCTION void operator()(const member& team) const {
    E* const a_local = static_cast<E*>(team.team_scratch(0).get_shmem_aligned(16 * 32 * 2, 128));
    E* const b_local = a_local + 16 * k;
    const int lane = team.team_rank(), g = lane / 4, t = lane % 4;
    for (int i = lane; i < 16 * k; i += 32) {
      const int to = Transposed ? i % k * 16 + i / k : i;
      a_local[to] = a[i], b_local[to] = b[i];
    }
    team.team_barrier();
    const int row = lane % 8, second = lane / 8 % 2, upper = lane / 16;
    unsigned a_frag[4] = {}, b_frags[4] = {};
    if constexpr (Transposed) {
      mma::load_8x8x4<true>(a_frag, a_local + (upper * 8 + row) * 16 + second * 8);
      mma::load_8x8x4<true>(b_frags, b_local + (second * 8 + row) * 16 + upper * 8);
    } else {
      mma::load_8x8x4<false>(a_frag, a_local + (row + second * 8) * k + upper * chunk);
      mma::load_8x8x4<false>(b_frags, b_local + (row + upper * 8) * k + second * chunk);
    }
    for (int j = 0; j < 2; ++j) {
      T sums[2][2];
      const auto at = [&](int i) { return (g + i / 2 * 8) * 16 + j * 8 + 2 * t + i % 2; };
      for (int i = 0; i < 4; ++i) sums[i / 2][i % 2] = d[at(i)];
      const unsigned b_frag[2] = {b_frags[2 * j], b_frags[2 * j + 1]};
      if constexpr (tiling::reading<E>::has_kinds)
        mma::multiply_short<E>(sums, a_frag, b_frag, std::bool_constant<KindA>(),
                               std::bool_constant<KindB>());
      else
        mma::multiply_short<E>(sums, a_frag, b_frag);
      for (int i = 0; i < 4; ++i) d[at(i)] = sums[i / 2][i % 2];
    }
  }
};

template <class E, class T, bool Transposed, bool KindA = false, bool KindB = false>
void test_short() {
  using product = product_short<E, T, Transposed, KindA, KindB>;
  constexpr int k = product::k;
  const pinned<E> a(16 * k, 1), b(16 * k, 5);
  const pinned<T> d(16 * 16, 9);
  const auto before = d.copy();
  run_warp(product{a.data(), b.data(), d.data()});
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      T sum = before[i * 16 + j];
      for (int q = 0; q < k; ++q) sum += number<T>(a[i * k + q], KindA) * number<T>(b[j * k + q], KindB);
      ASSERT_EQ(d[i * 16 + j], sum) << i << ", " << j << (Transposed ? ", transposed" : "")
                                    << (KindA ? ", second kind of A" : "") << (KindB ? ", of B" : "");
    }
}
template <class E, class T>
void test_kinds() {
  test_short<E, T, false, false, false>(), test_short<E, T, false, true, false>();
  test_short<E, T, false, false, true>(), test_short<E, T, false, true, true>();
}

TEST(CudaMma, Halves) {
  if (!has_units(80)) GTEST_SKIP() << "no matrix units";
  test_short<float16, float, false>(), test_short<float16, float, true>();
  test_short<bfloat16, float, false>(), test_short<bfloat16, float, true>();
}
TEST(CudaMma, IntegersOfEightBits) {
  if (!has_units(80)) GTEST_SKIP() << "no matrix units";
  test_kinds<integer8, std::uint32_t>();
}
TEST(CudaMma, FloatsOfEightBits) {
  if (!has_units(89)) GTEST_SKIP() << "no matrix units for them";
#if defined(KOKKOS_ARCH_ADA89) || defined(KOKKOS_ARCH_HOPPER90) || defined(KOKKOS_ARCH_BLACKWELL)
  test_kinds<float8, float>();
#endif
}

#if defined(KOKKOS_ARCH_HOPPER90)
/// The float16s of all floats of eight bits, e4m3 and then e5m2, two in a word.
struct widen_all {
  unsigned* two;
  KERAMOS_FUNCTION void operator()(const member& team) const {
    for (int i = team.team_rank(); i < 128; i += 32) {
      const unsigned first = i % 64 * 4;
      mma::widen(two[2 * i], two[2 * i + 1], first * 0x01010101u + 0x03020100u, i >= 64);
    }
  }
};

TEST(CudaMma, WidensFloatsOfEightBits) {
  if (!has_units(90)) GTEST_SKIP() << "no matrix units for them";
  const pinned<unsigned> two(256, 0);
  run_warp(widen_all{two.data()});
  for (int i = 0; i < 512; ++i) {
    const auto bits = std::uint16_t(two[i / 2] >> i % 2 * 16);
    const float got = std::bit_cast<float16>(bits),
                expected = number<float>(std::bit_cast<float8>(std::uint8_t(i)), i >= 256);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(got)) << i;
    else
      EXPECT_EQ(got, expected) << i;
  }
}
#endif

/// Each lane's x: what the units take it for, and its two parts.
struct round_and_split {
  const float* x;
  float *rounded, *high, *rest;
  unsigned* bytes;
  KERAMOS_FUNCTION void operator()(const member& team) const {
    const int lane = team.team_rank();
    rounded[lane] = mma::rounded(x[lane]);
    mma::split(x[lane], high[lane], rest[lane]);
    if (lane == 0) mma::take_apart(bytes[0], bytes[1], 0x03020100u, 0x07060504u);
  }
};

TEST(CudaMma, RoundsSplitsAndTakesApart) {
  if (!has_units(80)) GTEST_SKIP() << "no matrix units";
  const pinned<float> x(32, 0), rounded(32, 0), high(32, 0), rest(32, 0);
  const pinned<unsigned> bytes(2, 0);
  std::mt19937 rng(17);
  for (int i = 0; i < 32; ++i) x[i] = std::ldexp(float(rng() % 0x1000000) + 1, int(rng() % 60) - 40);
  x[0] = 1 + 0x1p-11f, x[1] = -(1 + 0x1p-11f), x[2] = 1 + 0x1p-12f;  // a tie, and less than one
  x[3] = 0x1.fffffep127f, x[4] = -INFINITY, x[5] = NAN, x[6] = 0;
  run_warp(round_and_split{x.data(), rounded.data(), high.data(), rest.data(), bytes.data()});
  EXPECT_EQ(rounded[0], 1 + 0x1p-10f);
  EXPECT_EQ(rounded[1], -(1 + 0x1p-10f));
  EXPECT_EQ(rounded[2], 1);
  EXPECT_EQ(high[3], 0x1.ffcp127f);
  EXPECT_EQ(high[4], x[4]);
  EXPECT_TRUE(std::isnan(high[5]));
  for (int i : {4, 5, 6}) EXPECT_EQ(rest[i], 0);
  for (int i = 0; i < 32; ++i) {
    if (i >= 3 && i <= 6) continue;
    EXPECT_LE(std::abs(double(rounded[i]) - x[i]), 0x1p-11 * std::abs(x[i])) << i;
    EXPECT_EQ(high[i], rounded[i]);
    EXPECT_LE(std::abs(double(high[i]) + rest[i] - x[i]), 0x1p-22 * std::abs(x[i])) << i;
    for (const float part : {rounded[i], rest[i]})
      EXPECT_EQ(__builtin_bit_cast(std::uint32_t, part) & 0x1fff, 0u) << "eleven bits of mantissa";
  }
  EXPECT_EQ(bytes[0], 0x06040200u);
  EXPECT_EQ(bytes[1], 0x07050301u);
}

}  // namespace
}  // namespace keramos::test

// Tiles on AMD's matrix units, whose instructions are emulated here from their documents: every thread's fragments, products and
// elements of C, for panels that lie either way. What it cannot show is that a GPU does what the documents say.
#include <Kokkos_Core.hpp>

#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/wave_mma.hpp>
#include <keramos/gemm/collective/wave_panel.hpp>
#include <keramos/keramos.hpp>

#include "amd_gpu.hpp"
#include "k_tile.hpp"

namespace keramos::test {
namespace {

using tiling::direction;

template <class E, int MN, int K, direction Along>
using tile = k_tile<detail::simt::wave_panel<E, MN, K, Along>, E, MN, K>;

template <matrix_units Units, class Types, tiling::config Config, direction A, direction B>
void test_tile(const tiling::reading<typename Types::a>& read_a = {},
               const tiling::reading<typename Types::a>& read_b = {}) {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using accumulator = detail::simt::wave_mma_accumulator<Types, Config, amd_gpu<Units>, A, B>;
  constexpr int m = Config.block.m, n = Config.block.n, k = Config.block.k, k_tiles = 2;
  constexpr int rows = m - 3, cols = n - 5;  // of C
  std::mt19937 random(7);
  std::vector<tile<E, m, k, A>> a;
  std::vector<tile<E, n, k, B>> b;
  const float beside = std::is_same_v<Types, types::tf32> ? 0x1p-14f : 0;  // which is rounded away
  for (int s = 0; s < k_tiles; ++s)
    a.emplace_back(read_a, random, beside), b.emplace_back(read_b, random, beside);
  const auto panels = [&](int s) {
    return detail::simt::panel_pair<typename tile<E, m, k, A>::panel, typename tile<E, n, k, B>::panel>{
        a[s].view(), b[s].view()};
  };

  std::vector<detail::simt::run<T, 4>> memory(m * n / 4);
  T* const c = reinterpret_cast<T*>(memory.data());
  for (int i = 0; i < m * n; ++i) c[i] = T(untouched);
  gemm_problem<Types> p{};
  p.c = c, p.c_row_stride = n, p.c_col_stride = 1, p.m = rows, p.n = cols, p.k = k * k_tiles;
  const tiling::position at{0, 0, 0, p.k, rows, cols};
  emulator machine;
  emulated = &machine;
  for (const bool multiplies : {false, true}) {
    if (multiplies) machine.multiply_from_now_on();
    for (int thread = 0; thread < Config.warps() * 64; ++thread) {
      machine.begin(thread);
      accumulator sums(thread);
      sums.start(panels(0));
      detail::simt::with_kinds<accumulator>(panels(0), [&](auto... kinds) {
        for (int s = 0; s < k_tiles; ++s) {
          const auto next = [&] { return panels(s + 1 < k_tiles ? s + 1 : s); };
          sums.multiply(panels(s), next, kinds...);
        }
        if constexpr (accumulator::takes_kinds) sums.correct(k * k_tiles, kinds...);
      });
      if (multiplies) sums.write(p, at, sum_itself());
    }
  }
  expect_product(c, m, n, rows, cols, a, b);
}

template <matrix_units Units, class Types, tiling::config Config, class... How>
void test_layouts(const How&... how) {
  test_tile<Units, Types, Config, direction::k, direction::k>(how...);
  test_tile<Units, Types, Config, direction::k, direction::mn>(how...);
  test_tile<Units, Types, Config, direction::mn, direction::k>(how...);
  test_tile<Units, Types, Config, direction::mn, direction::mn>(how...);
}

// By four wavefronts with two fragments each way, and by one with as many as a vector has, in two steps of k.
constexpr tiling::config four(int k) {
  return {{64, 64, k}, {32, 32, 0}, {16, 16, 0}, 2, 3, tiling::math_unit::matrix};
}
constexpr tiling::config one(int k) {
  return {{64, 64, k}, {64, 64, 0}, {16, 16, 0}, 1, 2, tiling::math_unit::matrix};
}

TEST(WaveMma, TilesOfMfma) {
  test_layouts<matrix_units::cdna2, types::f64, four(16)>();
  test_layouts<matrix_units::cdna2, types::f32, four(16)>();
  test_layouts<matrix_units::cdna2, types::f32, one(32)>();
  test_layouts<matrix_units::cdna3, types::f16_f32, four(32)>();
  test_tile<matrix_units::cdna2, types::bf16_f32, one(64), direction::mn, direction::mn>();
}
TEST(WaveMma, TilesOfTf32) {
  test_layouts<matrix_units::cdna3, types::tf32, four(16)>();
  test_layouts<matrix_units::cdna3, types::tf32, one(32)>();
}
TEST(WaveMma, FloatsAreRoundedToTheNearestTf32) {
  const auto rounded = [](float x) {
    return std::bit_cast<float>(backend::hip::rounded_to_tf32(std::bit_cast<unsigned>(x)));
  };
  const float ulp = 0x1p-10f, inf = std::numeric_limits<float>::infinity();
  for (const float x : {0.f, 1.f, 1 + ulp, 0x1p-126f, inf}) {
    EXPECT_EQ(rounded(x), x);
    EXPECT_EQ(rounded(-x), -x);
  }
  EXPECT_TRUE(std::signbit(rounded(-0.f)));
  EXPECT_EQ(rounded(1 + ulp / 2), 1 + ulp);  // a tie
  EXPECT_EQ(rounded(-1 - ulp / 2), -1 - ulp);
  EXPECT_EQ(rounded(1 + ulp * 0.499f), 1);
  EXPECT_EQ(rounded(2 - ulp / 4), 2);
  EXPECT_EQ(rounded(std::numeric_limits<float>::max()), inf);
  for (const unsigned bits : {0x7f800001u, 0x7fffffffu, 0xff800001u, 0xffffffffu})  // NaN
    EXPECT_EQ(backend::hip::rounded_to_tf32(bits), bits);
}
TEST(WaveMma, TilesOfWmma) {
  test_layouts<matrix_units::rdna3, types::f16_f32, one(32)>();
  test_tile<matrix_units::rdna3, types::bf16_f32, four(32), direction::mn, direction::mn>();
}
TEST(WaveMma, TilesOfBytes) {
  tiling::reading<integer8> is_signed, is_not;
  is_not.is_signed = false;
  test_layouts<matrix_units::cdna2, types::i8_i32, four(64)>(is_signed, is_signed);
  test_layouts<matrix_units::cdna3, types::i8_i32, four(64)>(is_signed, is_not);
  test_layouts<matrix_units::cdna3, types::i8_i32, one(64)>(is_not, is_not);
  test_layouts<matrix_units::rdna3, types::i8_i32, four(64)>(is_not, is_signed);
}
// Of gfx950, whose fragments are those of gfx942's bytes.
TEST(WaveMma, TilesOfFloatsOfEightBits) {
  tiling::reading<float8> e4m3, e5m2;
  e5m2.is_e5m2 = true;
  test_layouts<matrix_units::cdna3, types::f8_f32, four(64)>(e4m3, e4m3);
  test_layouts<matrix_units::cdna3, types::f8_f32, one(64)>(e4m3, e5m2);
  test_tile<matrix_units::cdna3, types::f8_f32, four(64), direction::mn, direction::k>(e5m2, e4m3);
  test_tile<matrix_units::cdna3, types::f8_f32, four(64), direction::mn, direction::mn>(e5m2, e5m2);
}

}  // namespace
}  // namespace keramos::test

#endif

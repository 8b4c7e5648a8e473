// Tiles on matrix units whose fragments a sub-group loads and holds together (joint_matrix of SYCL), emulated: every lane holds
// whole fragments. So it shows which element of a panel, of a product and of C goes where, for panels that lie either way.
#include <Kokkos_Core.hpp>

// Compilers of devices would make kernels of what calls the emulator.
#if !defined(KOKKOS_ENABLE_CUDA) && !defined(KOKKOS_ENABLE_HIP) && !defined(KOKKOS_ENABLE_SYCL)

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/backends/simt/staging.hpp>
#include <keramos/gemm/collective/fragment_panel.hpp>
#include <keramos/gemm/collective/joint_mma.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/wave_mma.hpp>
#include <keramos/keramos.hpp>

#include "k_tile.hpp"

namespace keramos {

namespace test {

struct jointly {};

/// Rows x Columns numbers. Memory has rows of `Pack` numbers of each column.
template <class E, int Rows, int Columns, int Pack, bool Signed>
struct matrix_of {
  double at[Rows][Columns];
};

}  // namespace test

namespace backend {

template <>
struct traits<test::jointly> {
  static constexpr int warp_size = 32;
};
template <>
struct mma<test::jointly> : fma_units {
  template <class E>
  static constexpr simt::joint_fragment fragment{8, 16, 32 / int(sizeof(E)), 16, 4 / int(sizeof(E))};
  template <class E, bool Signed>
  using a_fragment = test::matrix_of<E, fragment<E>.m, fragment<E>.k, 1, Signed>;
  template <class E, bool Signed>
  using b_fragment = test::matrix_of<E, fragment<E>.k, fragment<E>.n, fragment<E>.pack, Signed>;
  template <class E, class T>
  using sums = test::matrix_of<T, fragment<E>.m, fragment<E>.n, 1, true>;

  template <class E, int Rows, int Columns, int Pack, bool Signed>
  static void load(test::matrix_of<E, Rows, Columns, Pack, Signed>& to, const E* from, int pitch) {
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j) {
        const E& x = from[i / Pack * pitch + j * Pack + i % Pack];
        if constexpr (std::is_same_v<E, integer8>)
          to.at[i][j] = Signed ? double(std::int8_t(x.bits)) : double(x.bits);
        else
          to.at[i][j] = double(float(x));
      }
  }
  template <class Sums>
  static void clear(Sums& x) {
    x = {};
  }
  template <class Sums, class A, class B>
  static void multiply(Sums& sums, const A& a, const B& b) {
    for (std::size_t i = 0; i < std::size(a.at); ++i)
      for (std::size_t j = 0; j < std::size(sums.at[0]); ++j)
        for (std::size_t k = 0; k < std::size(b.at); ++k) sums.at[i][j] += a.at[i][k] * b.at[k][j];
  }
  template <class T, class Sums>
  static void store(T* to, const Sums& x, int pitch) {
    for (std::size_t i = 0; i < std::size(x.at); ++i)
      for (std::size_t j = 0; j < std::size(x.at[0]); ++j)
        to[i * std::size_t(pitch) + j] =
            T(std::is_integral_v<T> ? T(std::int64_t(x.at[i][j])) : T(x.at[i][j]));
  }
  static float rounded(float x) { return std::floor(x); }
  static void meet_lanes() {}
  static int same_for_lanes(int x) { return x; }
};

}  // namespace backend

namespace test {
namespace {

using tiling::direction;

struct lone_thread {
  void team_barrier() const {}
};

using fragments = detail::simt::fragment_panels<jointly>;
template <class E, int MN, int K, direction Along>
using tile_of_a = k_tile<fragments::of_a<E, MN, K, Along>, E, MN, K>;
template <class E, int MN, int K, direction Along>
using tile_of_b = k_tile<fragments::of_b<E, MN, K, Along>, E, MN, K>;

template <class E>
tiling::reading<E> reading_of([[maybe_unused]] bool is_signed) {
  tiling::reading<E> how;
  if constexpr (std::is_same_v<E, integer8>) how.is_signed = is_signed;
  return how;
}

/// Stages an operand of mn x k elements by 128 threads, of 16 bytes at a time or of one element, and compares the panels with it.
template <class Panel, class E, int MN, int K, direction Along, int Vector>
void test_panel(int mn, int k) {
  using stager =
      detail::simt::operand_stager<Panel, E, MN, K, 128, Along, Along, Vector, backend::simt::plain_copier>;
  SCOPED_TRACE(std::to_string(sizeof(E)) + " bytes, " + std::to_string(mn) + " x " + std::to_string(k) +
               (Along == direction::k ? " along k, " : " along mn, ") + std::to_string(Vector));
  std::vector<detail::simt::run<E, 16 / sizeof(E)>> memory(mn * k * sizeof(E) / 16 + 1),
      local(MN * K * sizeof(E) / 16);
  E* const from = reinterpret_cast<E*>(memory.data());
  E* const to = reinterpret_cast<E*>(local.data());
  for (int i = 0; i < mn * k; ++i)
    if constexpr (std::is_same_v<E, integer8>)
      from[i].bits = std::uint8_t(1 + i % 251);
    else
      from[i] = E(1 + 0.5f * float(i % 251));
  const tiling::operand<E> x(from, Along == direction::k ? k : 1, Along == direction::k ? 1 : mn);
  std::vector<stager> team;
  for (int t = 0; t < 128; ++t) team.emplace_back(x, 0, 0, mn < MN ? mn : MN, k, mn, k, t);
  for (int s = 0; s * K < k; ++s) {
    std::memset(static_cast<void*>(to), 0x55, MN * K * sizeof(E));
    for (stager& one : team)
      if (mn >= MN && (s + 1) * K <= k)
        one.template stage<true>(to, s);
      else
        one.template stage<false>(to, s);
    for (int i = 0; i < MN; ++i)
      for (int j = 0; j < K; ++j) {
        const E expected = i < mn && s * K + j < k ? Panel::prepared(*x.at(i, s * K + j)) : E{};
        ASSERT_EQ(std::memcmp(to + Panel::offset(i, j), &expected, sizeof(E)), 0)
            << "element " << i << ", " << j;
      }
  }
}
template <class E, int MN, int K, direction Along>
void test_panels() {
  constexpr int vector = 16 / int(sizeof(E));
  const auto both = [](int mn, int k) {
    test_panel<fragments::of_a<E, MN, K, Along>, E, MN, K, Along, 1>(mn, k);
    test_panel<fragments::of_b<E, MN, K, Along>, E, MN, K, Along, 1>(mn, k);
    if ((Along == direction::k ? k : mn) % vector != 0) return;
    test_panel<fragments::of_a<E, MN, K, Along>, E, MN, K, Along, vector>(mn, k);
    test_panel<fragments::of_b<E, MN, K, Along>, E, MN, K, Along, vector>(mn, k);
  };
  both(MN, 2 * K);
  both(MN, K + vector);
  both(MN - vector, 2 * K);
  both(3, 5);
}
template <class E>
void test_panels_of() {
  constexpr int k = 64 / int(sizeof(E));
  test_panels<E, 64, k, direction::k>();
  test_panels<E, 64, k, direction::mn>();
  test_panels<E, 128, k, direction::k>();
  test_panels<E, 128, k, direction::mn>();
}
TEST(JointMma, Panels) {
  test_panels_of<bfloat16>();
  test_panels_of<integer8>();
  test_panels_of<float>();
}

template <class Types, tiling::config Config, direction A, direction B>
void test_tile(bool signed_a, bool signed_b) {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using accumulator = detail::simt::joint_mma_accumulator<Types, Config, jointly>;
  constexpr int m = Config.block.m, n = Config.block.n, k = Config.block.k, k_tiles = 2;
  SCOPED_TRACE(to_string(Config.block) + (A == direction::k ? ", A along k" : "") +
               (B == direction::k ? ", B along k" : ""));
  std::mt19937 random(7);
  std::vector<tile_of_a<E, m, k, A>> a;
  std::vector<tile_of_b<E, n, k, B>> b;
  for (int s = 0; s < k_tiles; ++s)
    a.emplace_back(reading_of<E>(signed_a), random), b.emplace_back(reading_of<E>(signed_b), random);
  const auto panels = [&](int s) {
    return detail::simt::panel_pair<typename tile_of_a<E, m, k, A>::panel,
                                    typename tile_of_b<E, n, k, B>::panel>{a[s].view(), b[s].view()};
  };

  // Rows and columns beyond these are not written.
  const int rows = m - 3, cols = n - 5;
  std::vector<typename Types::c> c(m * n, typename Types::c(untouched));
  gemm_problem<Types> p{};
  p.c = c.data(), p.c_row_stride = n, p.c_col_stride = 1, p.m = rows, p.n = cols, p.k = k * k_tiles;
  const tiling::position at{0, 0, 0, p.k, rows, cols};
  int steps = 0;
  alignas(16) static char local[accumulator::collecting_bytes];
  for (int thread = 0; thread < Config.warps() * 32; ++thread) {
    accumulator sums(thread);
    sums.start(panels(0));
    detail::simt::with_kinds<accumulator>(panels(0), [&](auto... kinds) {
      for (int s = 0; s < k_tiles; ++s)
        sums.multiply(
            panels(s), [&] { ++steps; }, kinds...);
      if constexpr (accumulator::takes_kinds) sums.correct(k * k_tiles, kinds...);
    });
    sums.collect(lone_thread(), local);
    int next = 0;
    sums.for_each_vector([&](int number, const auto& run) {
      EXPECT_EQ(number, next++);
      EXPECT_EQ(sizeof(run), 16u);
    });
    EXPECT_EQ(next * 16, int(m * n * sizeof(T)) / (Config.warps() * 32));
    sums.write(p, at, sum_itself());
  }
  EXPECT_EQ(steps, k_tiles * Config.warps() * 32);
  expect_product(c.data(), m, n, rows, cols, a, b);
}
template <class Types, tiling::config Config>
void test_layouts(bool signed_a = true, bool signed_b = true) {
  test_tile<Types, Config, direction::k, direction::k>(signed_a, signed_b);
  test_tile<Types, Config, direction::k, direction::mn>(signed_a, signed_b);
  test_tile<Types, Config, direction::mn, direction::k>(signed_a, signed_b);
  test_tile<Types, Config, direction::mn, direction::mn>(signed_a, signed_b);
}

// As rows of the table are: of four warps, and of two that lie side by side.
constexpr tiling::config four(int k) {
  return {{64, 64, k}, {32, 32, 0}, {8, 16, 0}, 2, 2, tiling::math_unit::joint, true};
}
constexpr tiling::config two(int k) {
  return {{64, 64, k}, {64, 32, 0}, {8, 16, 0}, 2, 1, tiling::math_unit::joint};
}

TEST(JointMma, Tiles) {
  test_layouts<types::bf16_f32, four(32)>();
  test_layouts<types::f16_f32, two(32)>();
  test_layouts<types::tf32, two(16)>();
}
TEST(JointMma, TilesOfBytes) {
  test_layouts<types::i8_i32, four(64)>(true, false);
  test_layouts<types::i8_i32, two(64)>(false, true);
  test_tile<types::i8_i32, four(64), direction::k, direction::mn>(true, true);
  test_tile<types::i8_i32, four(64), direction::mn, direction::k>(false, false);
}

}  // namespace
}  // namespace test
}  // namespace keramos

#endif

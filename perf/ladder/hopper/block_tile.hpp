// What the steps for Hopper share: k-tiles in local memory, how a warpgroup multiplies one, how the copying unit brings
// one, and how sums become C. The instructions are the backend's atoms (backends/cuda/warpgroup.hpp), a statement each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <keramos/base/float16.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/line_panel.hpp>

#include "ladder/matrices.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf::ladder::hopper {

using element = bfloat16;
using space = Kokkos::Cuda;
using unit = backend::warpgroups<space>;
using barrier = unit::barrier;

constexpr int warp = 32, warpgroup = unit::warps * warp;  // threads
constexpr int depth = 64;                                 // of a k-tile: a line of 128 bytes

// The local memory of a team whose block of C is M x N: stages for k-tiles, then barriers, then room to make maps.
template <int M, int N, int Stages>
class block_tile {
  // Lines of 128 bytes, whose runs of 16 bytes change places from line to line so that a read meets all banks. A's are
  // along k. B's rows run along n, and wgmma takes them so: its panel is columns of lines, 64 elements wide.
  using panel_a = detail::simt::line_panel<element, M, depth, tiling::direction::k>;
  using panel_b = detail::simt::line_panel<element, N, depth, tiling::direction::mn>;
  static constexpr int a_bytes = M * 128, column = 64;  // of panel_b
  static constexpr std::size_t swizzle_bytes = 1024, barrier_bytes = 256;

 public:
  static constexpr int m = M, n = N, stages = Stages;
  static constexpr int stage_bytes = (M + N) * 128, map_bytes = 2 * unit::map_bytes;
  static constexpr std::size_t bytes = swizzle_bytes + Stages * stage_bytes + barrier_bytes + map_bytes;

  // The swizzle counts from multiples of 1,024 bytes.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION explicit block_tile(const Team& team) {
    const auto given = reinterpret_cast<std::uintptr_t>(
        team.team_scratch(0).get_shmem_aligned(std::size_t(bytes), detail::local_alignment));
    local_ = reinterpret_cast<char*>((given + swizzle_bytes - 1) / swizzle_bytes * swizzle_bytes);
  }

  KERAMOS_FORCEINLINE_FUNCTION element& a(int row, int k) const {
    return reinterpret_cast<element*>(local_)[panel_a::offset(row, k)];
  }
  KERAMOS_FORCEINLINE_FUNCTION element& b(int k, int col) const {
    return reinterpret_cast<element*>(local_ + a_bytes)[panel_b::offset(col, k)];
  }
  KERAMOS_FORCEINLINE_FUNCTION barrier* barriers() const {
    return reinterpret_cast<barrier*>(local_ + Stages * stage_bytes);
  }

  // Begins sums = A·B, or sums += A·B, of 64 rows and all columns: four instructions of 64 x N x 16.
  KERAMOS_FORCEINLINE_FUNCTION void multiply(float (&sums)[N / 2], int row, int stage, bool add) const {
    const char* const a_local = local_ + stage * stage_bytes;
    const auto a = unit::describe(a_local + panel_a::bytes_to(row, 0), panel_a::column_bytes);
    const auto b = unit::describe(a_local + a_bytes, panel_b::column_bytes);
    KERAMOS_UNROLL
    for (int step = 0; step < depth / 16; ++step)
      unit::multiply<element, panel_a::along_mn, panel_b::along_mn>(
          sums, unit::advance(a, panel_a::bytes_to(0, step)), unit::advance(b, panel_b::bytes_to(0, step)),
          add || step > 0);
  }

  // Tells the copying unit where A and B are and how large boxes are. It wants that in global memory: map_bytes at `maps`.
  // By the warp that copies.
  KERAMOS_FORCEINLINE_FUNCTION void make_maps(const operands<element>& x, char* maps, int lane) const {
    char* const a = local_ + Stages * stage_bytes + barrier_bytes;
    char* const b = a + unit::map_bytes;
    static_assert(map_bytes == warp * sizeof(std::uint64_t));
    reinterpret_cast<std::uint64_t*>(a)[lane] = 0;
    unit::meet_warp();
    const auto m = std::uint32_t(x.m), n = std::uint32_t(x.n), k = std::uint32_t(x.k);
    if (lane == 0)
      unit::make_map<element, false>(a, {x.a.data(), k, m, k * std::uint64_t(sizeof(element))}, M);
    if (lane == 1)
      unit::make_map<element, false>(b, {x.b.data(), n, k, n * std::uint64_t(sizeof(element))}, depth);
    unit::meet_warp();
    unit::store_map(maps, a);
    unit::store_map(maps + unit::map_bytes, b);
    unit::meet_warp();
  }
  // Has a k-tile copied, swizzled, zeros where the matrices end; `full` is told of stage_bytes. By one thread.
  KERAMOS_FORCEINLINE_FUNCTION void copy(const char* maps, int stage, index_t m0, index_t n0, index_t k0,
                                         barrier* full) const {
    char* const a = local_ + stage * stage_bytes;
    unit::copy_box(a, maps, int(k0), int(m0), full);
    KERAMOS_UNROLL
    for (int c = 0; c < N / column; ++c)
      unit::copy_box(a + a_bytes + c * panel_b::column_bytes, maps + unit::map_bytes, int(n0) + c * column,
                     int(k0), full);
  }

 private:
  char* local_;
};

// All products are done: sums may be read from here on.
template <int Count>
KERAMOS_FORCEINLINE_FUNCTION void settle(float (&sums)[Count]) {
  KERAMOS_UNROLL
  for (int i = 0; i < Count; ++i) unit::settle(sums[i]);
}

struct alignas(4) pair {
  element value[2];
};

// Writes a warpgroup's 64 rows of C as its threads have them: of each 8 columns two neighbours in a row, and two in the
// eighth row below. n is even.
struct pair_store {
  template <int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void write(const operands<element>& x, index_t m0, index_t n0,
                                                 int thread, const float (&sums)[Count]) {
    const int lane = thread % warp;
    const index_t col = n0 + lane % 4 * 2;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const index_t row = m0 + thread / warp * 16 + lane / 4 + half * 8;
      const int end = row < x.m ? int(x.n - col) : 0;
      element* const c = x.c.data() + row * x.n + col;
      KERAMOS_UNROLL
      for (int j = 0; j < Count / 4; ++j) {
        const float* const two = sums + 4 * j + 2 * half;
        if (8 * j < end) *reinterpret_cast<pair*>(c + 8 * j) = {element(two[0]), element(two[1])};
      }
    }
  }
};

// What the harness asks of a step. `ByUnit`: the copying unit brings k-tiles.
template <class Tile, int Threads, bool ByUnit>
struct step {
  using tile = Tile;
  static constexpr bool transposed_b = false, beside = false;

  static constexpr tiling::shape block_shape{Tile::m, Tile::n, depth};

  template <class T, int Width>
  static constexpr tiling::shape block() {
    return block_shape;
  }
  template <class T, int Width>
  static double elements(double m, double n, double k) {
    return elements_moved(m, n, k, Tile::m, Tile::n);
  }
  template <class T>
  static std::string cannot(const gemm_case& g) {
    const auto limit = backend::traits<space>::local_memory_limit(space(), Threads);
    if (Tile::bytes > limit)
      return "this step needs " + std::to_string(Tile::bytes) +
             " bytes of local memory a team, and Kokkos gives " + std::to_string(limit) +
             "; Kokkos 5.2 and later give all that the GPU has";
    if (ByUnit && (g.n % 8 != 0 || g.k % 8 != 0))
      return "the copying unit reads rows that begin at multiples of 16 bytes: n and k must be multiples of "
             "8";
    return {};
  }

 protected:
  static int blocks(const operands<element>& x) {
    return int(ceil_div(x.m, Tile::m) * ceil_div(x.n, Tile::n));
  }
  // Room for each team's maps.
  static char* maps_of(keramos::queue& q, int teams) {
    return detail::workspace_of(q).of_kernels(q.execution_space(), std::size_t(teams) * Tile::map_bytes);
  }
  // A TeamPolicy's parallel_for. `Together` teams shall find room on a multiprocessor.
  template <int Together, class Kernel>
  static void launch(const char* label, keramos::queue& q, int teams, const Kernel& kernel) {
    constexpr int fit = backend::traits<space>::teams_per_unit(Together, Threads, Tile::bytes);
    detail::team_launch<Threads, fit>(label, q.execution_space(), teams, Tile::bytes, kernel);
  }
};

// Block `number` of C, row by row.
template <class Tile>
struct block_of {
  index_t m0, n0;
  KERAMOS_FORCEINLINE_FUNCTION block_of(const operands<element>& x, int number) {
    const index_t in_row = (x.n + Tile::n - 1) / Tile::n;
    m0 = number / in_row * Tile::m;
    n0 = number % in_row * Tile::n;
  }
};

}  // namespace keramos::perf::ladder::hopper

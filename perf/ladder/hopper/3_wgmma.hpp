// Hopper, step 3: a warpgroup, four warps, hands whole panels of local memory to the tensor cores. One instruction
// multiplies 64 x 128 x 16 and reads both operands there itself, so that no thread loads a fragment; only sums are in
// registers. The panels must lie as the units read them, in swizzled lines, and stores of threads must be shown to them.
//
// Copies are those of the steps before: through registers, 16 bytes at a time. While they run nothing is multiplied, but for
// what a second team on the same multiprocessor does.
#pragma once

#include "block_tile.hpp"
#include "ladder/8_vectorized.hpp"

namespace keramos::perf::ladder::hopper {

struct wgmma : step<block_tile<128, 128, 1>, warpgroup, false> {
  static constexpr const char* name = "wgmma";
  static constexpr const char* why =
      "a warpgroup multiplies 64x128x16 in one instruction, which reads both operands from local memory: no "
      "fragments to load";

  struct kernel {
    operands<element> x;
    bool whole_a, whole_b;  // rows are aligned for vectors

    template <class Team>
    KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
      const tile local(team);
      const int thread = int(team.team_rank());
      const block_of<tile> at(x, int(team.league_rank()));
      float sums[2][64];  // of rows 0 to 63, and 64 to 127
      for (index_t k0 = 0; k0 < x.k; k0 += depth) {
        copy(local, at, k0, thread);
        unit::show_to_matrix_units();
        team.team_barrier();
        unit::begin();
        local.multiply(sums[0], 0, 0, k0 > 0);
        local.multiply(sums[1], 64, 0, k0 > 0);
        unit::commit();
        unit::finish<0>();
        team.team_barrier();
      }
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        settle(sums[half]);
        if (x.n % 2 == 0)
          pair_store::write(x, at.m0 + 64 * half, at.n0, thread, sums[half]);
        else
          write_elements(at.m0 + 64 * half, at.n0, thread, sums[half]);
      }
    }

    // An operand's loads first, so that all are under way at once; then its stores.
    KERAMOS_FORCEINLINE_FUNCTION void copy(const tile& local, const block_of<tile>& at, index_t k0,
                                           int thread) const {
      using run = vector<element>;
      constexpr int in_row_a = depth / run::size, in_row_b = tile::n / run::size;
      constexpr int rows_a = warpgroup / in_row_a,
                    rows_b = warpgroup / in_row_b;  // that all threads load at once
      const int row_a = thread / in_row_a, k_a = thread % in_row_a * run::size;
      const int k_b = thread / in_row_b, col_b = thread % in_row_b * run::size;
      run a[tile::m / rows_a], b[depth / rows_b];
      KERAMOS_UNROLL
      for (int s = 0; s < tile::m / rows_a; ++s)
        a[s] = load_vector(x.a, at.m0 + row_a + s * rows_a, k0 + k_a, x.m, x.k, whole_a);
      KERAMOS_UNROLL
      for (int s = 0; s < tile::m / rows_a; ++s)
        *reinterpret_cast<run*>(&local.a(row_a + s * rows_a, k_a)) = a[s];
      KERAMOS_UNROLL
      for (int s = 0; s < depth / rows_b; ++s)
        b[s] = load_vector(x.b, k0 + k_b + s * rows_b, at.n0 + col_b, x.k, x.n, whole_b);
      KERAMOS_UNROLL
      for (int s = 0; s < depth / rows_b; ++s)
        *reinterpret_cast<run*>(&local.b(k_b + s * rows_b, col_b)) = b[s];
    }

    // As pair_store, where rows of C are not aligned for pairs.
    KERAMOS_FORCEINLINE_FUNCTION void write_elements(index_t m0, index_t n0, int thread,
                                                     const float (&sums)[64]) const {
      const int lane = thread % warp;
      KERAMOS_UNROLL
      for (int i = 0; i < 64; ++i) {
        const index_t row = m0 + thread / warp * 16 + lane / 4 + i / 2 % 2 * 8;
        const index_t col = n0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (row < x.m && col < x.n) x.c(row, col) = element(sums[i]);
      }
    }
  };

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    launch<2>("ladder::wgmma", q, blocks(x), kernel{x, aligned_rows(x.a), aligned_rows(x.b)});
  }
};

}  // namespace keramos::perf::ladder::hopper

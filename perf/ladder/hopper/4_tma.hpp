// Hopper, step 4: the copying unit (Tensor Memory Accelerator) brings k-tiles. One thread asks it for boxes of A and of B; it
// computes the addresses, swizzles, puts zeros where a matrix ends, and tells a barrier in local memory how many bytes have
// come. No registers and next to no instructions are left for copies, so that three teams fit on a multiprocessor: while one
// waits for its boxes the others multiply.
//
// Rows of A and B must begin at multiples of 16 bytes.
#pragma once

#include "block_tile.hpp"

namespace keramos::perf::ladder::hopper {

struct tma : step<block_tile<128, 128, 1>, warpgroup, true> {
  static constexpr const char* name = "tma";
  static constexpr const char* why =
      "the copying unit brings whole boxes for one thread that asks: no registers, addresses or bounds to "
      "check, and room for more teams";

  struct kernel {
    operands<element> x;
    char* maps;

    template <class Team>
    KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
      const tile local(team);
      const int thread = int(team.team_rank());
      const block_of<tile> at(x, int(team.league_rank()));
      char* const own_maps = maps + team.league_rank() * tile::map_bytes;
      barrier* const full = local.barriers();
      if (thread == 0) {
        unit::start(full, 1);
        unit::show_to_matrix_units();
      }
      if (thread < warp) local.make_maps(x, own_maps, thread);
      team.team_barrier();
      float sums[2][64];
      int phase = 0;
      for (index_t k0 = 0; k0 < x.k; k0 += depth) {
        if (thread == 0) {
          unit::expect(full, tile::stage_bytes);
          local.copy(own_maps, 0, at.m0, at.n0, k0, full);
        }
        unit::wait(full, phase);
        phase ^= 1;
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
        pair_store::write(x, at.m0 + 64 * half, at.n0, thread, sums[half]);
      }
    }
  };

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    launch<3>("ladder::tma", q, blocks(x), kernel{x, maps_of(q, blocks(x))});
  }
};

}  // namespace keramos::perf::ladder::hopper

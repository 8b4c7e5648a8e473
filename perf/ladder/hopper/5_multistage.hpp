// Hopper, step 5: a ring of stages. Copies run up to three k-tiles ahead, and a k-tile's products are begun before those of
// the last one are waited for: neither the copying unit nor the tensor cores pause while the other works. Each stage has two
// barriers, for "full" and for "free"; the ring that counts their phases is the library's (tile/pipeline.hpp).
//
// What other teams hid in step 4 a team now hides itself. The stages are paid for in local memory: two teams fit.
#pragma once

#include <keramos/tile/pipeline.hpp>

#include "block_tile.hpp"

namespace keramos::perf::ladder::hopper {

template <class Tile>
using ring_of = tiling::handoff_pipeline<Tile::stages, backend::staging<space>, unit>;

struct multistage : step<block_tile<128, 128, 3>, warpgroup, true> {
  static constexpr const char* name = "multistage";
  static constexpr const char* why =
      "k-tiles are copied up to three ahead, and the next products are begun before the last are done: units "
      "need not wait for each other";
  using ring = ring_of<tile>;

  struct kernel {
    operands<element> x;
    char* maps;

    template <class Team>
    KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
      const tile local(team);
      const int thread = int(team.team_rank());
      const block_of<tile> at(x, int(team.league_rank()));
      char* const own_maps = maps + team.league_rank() * tile::map_bytes;
      ring filling(local.barriers()), reading(local.barriers());  // one side's place in the ring each
      if (thread == 0) filling.start(1, warpgroup / warp);
      if (thread < warp) local.make_maps(x, own_maps, thread);
      team.team_barrier();
      index_t k_to_copy = 0;
      const auto copy_next = [&] {
        if (thread == 0 && k_to_copy < x.k) {
          const int stage = filling.acquire();
          local.copy(own_maps, stage, at.m0, at.n0, k_to_copy, filling.expect(tile::stage_bytes));
          filling.advance();
        }
        k_to_copy += depth;
      };
      for (int s = 0; s < tile::stages; ++s) copy_next();
      float sums[2][64];
      int previous = 0;
      for (index_t k0 = 0; k0 < x.k; k0 += depth) {
        const int stage = reading.wait();
        unit::begin();
        local.multiply(sums[0], 0, stage, k0 > 0);
        local.multiply(sums[1], 64, stage, k0 > 0);
        unit::commit();
        unit::finish<1>();  // those of the previous stage
        if (k0 > 0) {
          if (thread % warp == 0) reading.release(previous);
          copy_next();
        }
        previous = stage;
        reading.advance();
      }
      unit::finish<0>();
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        settle(sums[half]);
        pair_store::write(x, at.m0 + 64 * half, at.n0, thread, sums[half]);
      }
    }
  };

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    launch<2>("ladder::multistage", q, blocks(x), kernel{x, maps_of(q, blocks(x))});
  }
};

}  // namespace keramos::perf::ladder::hopper

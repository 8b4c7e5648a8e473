// Hopper, step 7: as many teams as the GPU holds, and each does one block after the other. The copying thread does not wait
// for C: while a block is written the next one's first k-tiles arrive, and maps and barriers are made once.
//
// Since teams take blocks in a known order, it can be one that suits the L2 cache (the library's, kernel/tile_order.hpp):
// bands of eight blocks along m, column by column. The blocks under way at one time are then about as many along m as along n,
// and read few different rows of A and columns of B.
#pragma once

#include <algorithm>

#include <keramos/gemm/kernel/tile_order.hpp>

#include "6_warp_specialized.hpp"

namespace keramos::perf::ladder::hopper {

struct persistent : warp_specialized {
  static constexpr const char* name = "persistent";
  static constexpr const char* why =
      "a team does block after block: the next one's copies run while this one is written, and neighbouring "
      "blocks share what L2 holds";

  // Store::write(x, m0, n0, thread, sums) writes a warpgroup's part of a block.
  template <class Store>
  struct kernel {
    operands<element> x;
    char* maps;
    detail::tile_order order;

    template <class Team>
    KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
      const tile local(team);
      const int thread = int(team.team_rank()), first = int(team.league_rank()),
                teams = int(team.league_size());
      ring stages(local.barriers());
      if (thread == 0) stages.start(1, multiplying / warp);
      team.team_barrier();
      if (thread < multiplying) {
        unit::take_registers<to_multiply>();
        const int row = unit::same_in_warp(thread / warpgroup) * 64;
        for (int number = first; number < order.count(); number += teams) {
          const auto at = order.at(number, tiling::shape(block_shape), x.m, x.n, x.k);
          sums_of_thread sums;
          multiply(sums, x.k, local, stages, row, thread);
          Store::write(x, at.m0 + row, at.n0, thread % warpgroup, sums);
        }
      } else {
        unit::give_registers<to_copy>();
        const int lane = thread - multiplying;
        char* const own_maps = maps + first * tile::map_bytes;
        if (lane < warp) local.make_maps(x, own_maps, lane);
        if (lane == 0) {
          for (int number = first; number < order.count(); number += teams) {
            const auto at = order.at(number, tiling::shape(block_shape), x.m, x.n, x.k);
            copy(x, local, stages, own_maps, at.m0, at.n0);
          }
        }
      }
      unit::exit();
    }
  };

  template <class Store>
  static void run_with(const char* label, keramos::queue& q, const operands<element>& x) {
    const int units = backend::tiles<space>::model(q.execution_space()).units;
    const int teams = std::min(blocks(x), units);
    launch<1>(label, q, teams,
              kernel<Store>{x, maps_of(q, teams), detail::order_of(x.m, x.n, tiling::shape(block_shape))});
  }

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    run_with<pair_store>("ladder::persistent", q, x);
  }
};

}  // namespace keramos::perf::ladder::hopper

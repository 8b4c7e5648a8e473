// Hopper, step 6: warps that do one thing only. A warpgroup, of which one thread works, has k-tiles copied; two others multiply
// and never wait to ask for a copy. The copying side needs few registers and gives the others most of its own
// (setmaxnreg), so that each can keep 64 x 256 sums: a block of 128 x 256 does 85 multiply-adds for each element
// that it reads from L2, where one of 128 x 128 does 64.
//
// One team fills a multiprocessor. While it writes its block nothing is multiplied there.
#pragma once

#include "5_multistage.hpp"

namespace keramos::perf::ladder::hopper {

constexpr int multiplying = 2 * warpgroup, copying = warpgroup;  // threads

struct warp_specialized : step<block_tile<128, 256, 4>, multiplying + copying, true> {
  static constexpr const char* name = "warp_specialized";
  static constexpr const char* why =
      "one warpgroup copies and two multiply; those get its registers and with them a block of 128x256, "
      "which reads a quarter less";
  using ring = ring_of<tile>;
  using sums_of_thread = float[tile::n / 2];

  // Registers of a thread are allotted in eights: equally at first.
  static constexpr int equal = unit::registers / (multiplying + copying) / 8 * 8;
  static constexpr int to_copy = unit::registers_to_copy;
  static constexpr int to_multiply =
      (equal * (multiplying + copying) - to_copy * copying) / multiplying / 8 * 8;

  // The copying thread's part of a block.
  KERAMOS_FORCEINLINE_FUNCTION static void copy(const operands<element>& x, const tile& local, ring& stages,
                                                const char* maps, index_t m0, index_t n0) {
    for (index_t k0 = 0; k0 < x.k; k0 += depth) {
      const int stage = stages.acquire();
      local.copy(maps, stage, m0, n0, k0, stages.expect(tile::stage_bytes));
      stages.advance();
    }
  }

  // A multiplying warpgroup's: 64 rows of the block, from `row` on.
  KERAMOS_FORCEINLINE_FUNCTION static void multiply(sums_of_thread& sums, index_t k, const tile& local,
                                                    ring& stages, int row, int thread) {
    int previous = 0;
    for (index_t k0 = 0; k0 < k; k0 += depth) {
      const int stage = stages.wait();
      unit::begin();
      local.multiply(sums, row, stage, k0 > 0);
      unit::commit();
      unit::finish<1>();
      if (k0 > 0 && thread % warp == 0) stages.release(previous);
      previous = stage;
      stages.advance();
    }
    unit::finish<0>();
    if (thread % warp == 0) stages.release(previous);
    settle(sums);
  }

  struct kernel {
    operands<element> x;
    char* maps;

    template <class Team>
    KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
      const tile local(team);
      const int thread = int(team.team_rank());
      const block_of<tile> at(x, int(team.league_rank()));
      ring stages(local.barriers());
      if (thread == 0) stages.start(1, multiplying / warp);
      team.team_barrier();
      if (thread < multiplying) {
        unit::take_registers<to_multiply>();
        const int row = unit::same_in_warp(thread / warpgroup) * 64;
        sums_of_thread sums;
        multiply(sums, x.k, local, stages, row, thread);
        pair_store::write(x, at.m0 + row, at.n0, thread % warpgroup, sums);
      } else {
        unit::give_registers<to_copy>();
        const int lane = thread - multiplying;
        char* const own_maps = maps + team.league_rank() * tile::map_bytes;
        if (lane < warp) local.make_maps(x, own_maps, lane);
        if (lane == 0) copy(x, local, stages, own_maps, at.m0, at.n0);
      }
      unit::exit();
    }
  };

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    launch<1>("ladder::warp_specialized", q, blocks(x), kernel{x, maps_of(q, blocks(x))});
  }
};

}  // namespace keramos::perf::ladder::hopper

// The arithmetic of a tiled matrix product on paper: what a team loads, computes and keeps.
#pragma once

#include <cstdint>

#include "measure/core/problem.hpp"

namespace keramos::perf {

// A team computes an m x n block of C; a phase takes it over k columns of A and rows of B. Each thread
// keeps thread_m x thread_n elements of C in registers.
struct tile_description {
  data_type type = data_type::f32;
  std::int64_t m = 16, n = 16, k = 16;
  std::int64_t thread_m = 1, thread_n = 1;
  std::int64_t stages = 1;  // k-tiles in scratch at once: 2 for double buffers
  std::int64_t team = 0;    // threads of a team, where thread tiles do not tell; 0: they do
};

struct tile_figures {
  std::int64_t threads;        // of a team
  std::int64_t loads;          // elements of A and B that a phase brings from global memory
  std::int64_t operations;     // of a phase; a multiply-add is two
  std::int64_t scratch_bytes;  // of a team: its k-tiles of A and B
  double naive_intensity;      // FLOP/B if both operands of every multiply-add come from global memory
  double intensity;            // FLOP/B with the tile: the traffic of C, once for all phases, not counted
  double reduction;            // of global traffic: intensity / naive_intensity
};

// m, n multiples of thread_m, thread_n; all at least 1.
tile_figures figures_of(const tile_description& tile);

}  // namespace keramos::perf

// Problems of a batch or of a list in block tiles, each computed by a team with a collective.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <keramos/base/divisor.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Tiles of problems that have equally many, problem after problem.
template <class Types>
struct uniform_tiles {
  using types = Types;
  static constexpr bool mixed = false;
  uniform_batch<Types> batch;
  tile_order order;  ///< of each problem's tiles
  divisor by_tiles;  ///< of a problem

  uniform_tiles(const uniform_batch<Types>& problems, const tiling::shape& block)
      : batch(problems),
        order(order_of(problems.shape.m, problems.shape.n, block)),
        by_tiles(order.count()) {}

  KERAMOS_FORCEINLINE_FUNCTION int problem_of(int rank) const { return by_tiles.quotient(rank); }
  KERAMOS_FORCEINLINE_FUNCTION gemm_problem<Types> problem(int number) const { return batch[number]; }
  KERAMOS_FORCEINLINE_FUNCTION tiling::position position(int rank, int number,
                                                         const tiling::shape& block) const {
    const auto& s = batch.shape;
    return order.at(rank - number * order.count(), block, s.m, s.n, s.k);
  }
};

/// Tiles of problems of any extents: a team finds its problem by bisection.
template <class Types>
struct grouped_tiles {
  using types = Types;
  static constexpr bool mixed = true;
  grouped_batch<Types> batch;

  KERAMOS_FORCEINLINE_FUNCTION int problem_of(int rank) const {
    int low = 0, high = int(batch.count);
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      (batch.problems[middle].first_tile <= rank ? low : high) = middle;
    }
    return low;
  }
  KERAMOS_FORCEINLINE_FUNCTION gemm_problem<Types> problem(int number) const {
    return batch.problems[number];
  }
  KERAMOS_FORCEINLINE_FUNCTION tiling::position position(int rank, int number,
                                                         const tiling::shape& block) const {
    const grouped_problem<Types>& p = batch.problems[number];
    return tile_order::at(rank - p.first_tile, p.tiles_m, p.tiles_n, block, p.m, p.n, p.k);
  }
};

/// What is left of a tile of a product without terms, by `threads` threads. It is what scale_kernel would leave.
template <class Types, class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION void write_without_terms(const gemm_problem<Types>& p,
                                                      const tiling::position& at, int thread, int threads,
                                                      const Epilogue& epilogue) {
  for (int e = thread; e < at.rows * at.cols; e += threads) {
    const index_t i = at.m0 + e / at.cols, j = at.n0 + e % at.cols;
    write_element(without_terms(epilogue), p.place, typename Types::accumulator(0),
                  p.c[i * p.c_row_stride + j * p.c_col_stride], i, j);
  }
}

/// A team's tile of a batch.
template <class Collective, class Tiles, class Kernel, class Team>
struct tile_of_batch {
  static constexpr bool of_list = Tiles::mixed;  ///< of problems of any extents

  const Kernel& kernel;
  const Team& team;
  int rank, number = kernel.tiles.problem_of(rank);  ///< of the tile, and of its problem

  KERAMOS_FORCEINLINE_FUNCTION gemm_problem<typename Tiles::types> problem() const {
    return kernel.tiles.problem(number);
  }
  KERAMOS_FORCEINLINE_FUNCTION tiling::position position() const {
    return kernel.tiles.position(rank, number, kernel.collective.block());
  }
  /// The same tile, found once more: kept, what follows from it would take registers from the accumulators.
  KERAMOS_FORCEINLINE_FUNCTION tile_of_batch again() const requires(!Collective::persistent) {
    return {kernel, team,
            kernel.rank_of(Collective::recompute(int(team.league_rank())), int(team.league_size()))};
  }
  template <class Threads, class Accumulator>
  KERAMOS_FORCEINLINE_FUNCTION bool add_up(const Threads&, Accumulator&) const {
    return true;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool next() {
    rank += int(team.league_size());
    if (rank >= kernel.count) return false;
    number = kernel.tiles.problem_of(rank);
    return true;
  }

  /// Teams take turns with the tiles of a list: drawn, lists with few rows took up to 9 % longer, and others changed by 2 % at most
  /// (bf16, perf/data/shapes/experts.csv, on an H200).
  static constexpr bool can_draw = !Tiles::mixed && requires(const Collective& c) { c.drawn; };
  KERAMOS_FORCEINLINE_FUNCTION bool is_drawn() const requires(can_draw) {
    return kernel.collective.drawn != nullptr;
  }
  KERAMOS_FORCEINLINE_FUNCTION drawn_tiles draws() const requires(can_draw) {
    return {kernel.collective.drawn, int(team.league_size()), kernel.count};
  }
  KERAMOS_FORCEINLINE_FUNCTION void take(int next) requires(can_draw) {
    rank = next;
    number = kernel.tiles.problem_of(rank);
  }

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_without_terms(int thread, int threads,
                                                        const Epilogue& epilogue) const
      requires(Tiles::mixed) {
    detail::write_without_terms(problem(), position(), thread, threads, epilogue);
  }
};

/// One kernel for all tiles of a batch or of a list.
template <gemm_collective Collective, class Tiles, class Epilogue>
struct batched_gemm_kernel : dealt_teams_of<Collective> {
  using types = typename Collective::types;

  Collective collective;
  Tiles tiles;
  Epilogue epilogue;
  int count;  ///< of tiles

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const tile_of_batch<Collective, Tiles, batched_gemm_kernel, Team> first{
        *this, team, this->rank_of(int(team.league_rank()), int(team.league_size()))};
    const gemm_problem<types> problem = first.problem();
    if constexpr (Tiles::mixed && !Collective::persistent) {
      if (problem.k == 0) {
        first.write_without_terms(int(team.team_rank()), int(team.team_size()), epilogue);
        return;
      }
    }
    collective.run(team, problem, first, epilogue);
  }
};

template <class Types>
index_t count_tiles(const gemm_problem<Types>& p, const tiling::shape& block) {
  return ceil_div(p.m, block.m) * ceil_div(p.n, block.n);
}
template <class Types>
index_t count_tiles(const std::vector<grouped_problem<Types>>& problems, const tiling::shape& block) {
  index_t tiles = 0;
  for (const auto& p : problems) tiles += count_tiles(p, block);
  return tiles;
}

/// A team for each tile, or an exception if these are too many.
inline int league_of(index_t tiles) {
  if (tiles > most_tiles)
    throw launch_error("keramos::gemm_batched: the problems have " + std::to_string(tiles) +
                       " block tiles, more than 2^31 - 65536; split the batch");
  return int(tiles);
}

/// Launches one kernel for all `count` tiles of a batch, a team for each, or as many as a GPU holds if they are persistent.
template <class Exec, class Collective, class Tiles, class Epilogue>
void launch_tiles(const Exec& exec, int count, const Collective& collective, const Tiles& tiles,
                  const Epilogue& epilogue) {
  if constexpr (is_collective<Collective>()) {
    using kernel = batched_gemm_kernel<Collective, Tiles, Epilogue>;
    if constexpr (requires { Collective::template check_compiled<kernel>(exec); })
      Collective::template check_compiled<kernel>(exec);
    int teams = count;
    if constexpr (Collective::persistent) teams = std::min(teams, teams_at_once<Collective>(exec));
    team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
        "keramos::gemm_batched", exec, teams, collective.local_bytes(),
        kernel{deal_teams<Collective>(exec), collective, tiles, epilogue, count});
  }
}

}  // namespace keramos::detail

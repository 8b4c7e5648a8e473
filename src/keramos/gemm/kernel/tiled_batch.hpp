// Problems of a batch or of a list in block tiles, each computed by a team with a collective.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <keramos/core/detail/launch.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// The block tile that a team computes, and of which problem.
template <class Types>
struct tile_of_batch {
  gemm_problem<Types> problem;
  tiling::position at;
};

/// Tiles of problems that have equally many, problem after problem.
template <class Types>
struct uniform_tiles {
  static constexpr bool mixed = false;
  uniform_batch<Types> batch;
  tile_order order;

  KERAMOS_FORCEINLINE_FUNCTION tile_of_batch<Types> at(int rank, const tiling::shape& block) const {
    const auto& s = batch.shape;
    const int b = rank / order.count();
    return {batch[b], order.at(rank - b * order.count(), block, s.m, s.n, s.k)};
  }
};

/// Tiles of problems of any extents: a team finds its problem by bisection.
template <class Types>
struct grouped_tiles {
  static constexpr bool mixed = true;
  grouped_batch<Types> batch;

  KERAMOS_FORCEINLINE_FUNCTION tile_of_batch<Types> at(int rank, const tiling::shape& block) const {
    index_t low = 0, high = batch.count;
    while (high - low > 1) {
      const index_t middle = (low + high) / 2;
      (batch.problems[middle].first_tile <= rank ? low : high) = middle;
    }
    const grouped_problem<Types>& p = batch.problems[low];
    return {p, tile_order{p.tiles_m, p.tiles_n, tile_order::usual_band}.at(rank - p.first_tile, block, p.m,
                                                                           p.n, p.k)};
  }
};

template <gemm_collective Collective, class Tiles, class Epilogue>
struct batched_gemm_kernel : dealt_teams_of<Collective> {
  using types = typename Collective::types;

  Collective collective;
  Tiles tiles;
  Epilogue epilogue;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int rank = this->rank_of(team.league_rank(), team.league_size());
    const tile_of_batch<types> tile = tiles.at(rank, collective.block());
    if (Tiles::mixed && tile.problem.k == 0)
      scale_tile(team, tile);
    else
      collective.run(team, tile.problem, own_tile{tile.at}, epilogue);
  }

  /// A product without terms leaves what scale_kernel would.
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void scale_tile(const Team& team, const tile_of_batch<types>& tile) const {
    const gemm_problem<types>& p = tile.problem;
    for (int e = team.team_rank(); e < tile.at.rows * tile.at.cols; e += team.team_size()) {
      const index_t i = tile.at.m0 + e / tile.at.cols, j = tile.at.n0 + e % tile.at.cols;
      write_element(without_terms(epilogue), p.place, typename types::accumulator(0),
                    p.c[i * p.c_row_stride + j * p.c_col_stride], i, j);
    }
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

/// Teams for so many tiles, or an exception.
inline int league_of(index_t tiles) {
  if (tiles > std::numeric_limits<int>::max())
    throw launch_error("keramos::gemm_batched: the problems have " + std::to_string(tiles) +
                       " block tiles, more than 2^31 - 1; split the batch");
  return int(tiles);
}

/// Launches one kernel for all tiles of a batch, a team for each.
template <class Exec, class Collective, class Tiles, class Epilogue>
void launch_tiles(const Exec& exec, int league, const Collective& collective, const Tiles& tiles,
                  const Epilogue& epilogue) {
  if constexpr (is_collective<Collective>()) {
    using kernel = batched_gemm_kernel<Collective, Tiles, Epilogue>;
    team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
        "keramos::gemm_batched", exec, league, collective.local_bytes(),
        kernel{deal_teams<Collective>(exec), collective, tiles, epilogue});
  }
}

}  // namespace keramos::detail

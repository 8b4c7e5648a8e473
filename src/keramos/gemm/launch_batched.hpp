// From a checked batch to launches. Compiled into the library; include it to instantiate gemm_batched for
// other types, whose gemm has to be instantiated too (launch.hpp).
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// C[b] = epilogue(0, C[b]): what is left of a batch when nothing is to be multiplied.
template <class Batch, class Epilogue>
struct batched_scale_kernel {
  Batch batch;
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<3> at) const {
    const auto& p = batch[at[0]];
    if (Batch::mixed && (at[1] >= p.m || at[2] >= p.n)) return;
    auto& c = p.c[at[1] * p.c_row_stride + at[2] * p.c_col_stride];
    write_element(epilogue, p.place, typename Batch::types::accumulator(0), c, at[1], at[2]);
  }
};

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
    return {p, tile_order{p.tiles_m, p.tiles_n, 8}.at(rank - p.first_tile, block, p.m, p.n, p.k)};
  }
};

template <gemm_collective Collective, class Tiles, class Epilogue>
struct batched_gemm_kernel {
  using types = typename Collective::types;

  Collective collective;
  Tiles tiles;
  Epilogue epilogue;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const tile_of_batch<types> tile = tiles.at(team.league_rank(), collective.block());
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

/// Teams for so many tiles, or an exception.
inline int league_of(index_t tiles, index_t problems) {
  if (tiles > std::numeric_limits<int>::max())
    throw launch_error("keramos::gemm_batched: " + std::to_string(problems) + " problems have " +
                       std::to_string(tiles) + " block tiles, more than 2^31 - 1; split the batch");
  return int(tiles);
}

template <class Exec, gemm_collective Collective, class Tiles, class Epilogue>
void launch_tiles(const Exec& exec, int league, const Collective& collective, const Tiles& tiles,
                  const Epilogue& epilogue) {
  using kernel = batched_gemm_kernel<Collective, Tiles, Epilogue>;
  static_assert(backend::traits<Exec>::is_host || sizeof(kernel) <= 350,
                "keramos: with more Kokkos would pass the functor through constant memory and wait");
  team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
      "keramos::gemm_batched", exec, league, collective.local_bytes(), kernel{collective, tiles, epilogue});
}

template <class Types>
index_t count_tiles(const gemm_problem<Types>& p, const tiling::shape& block) {
  return ceil_div(p.m, block.m) * ceil_div(p.n, block.n);
}

/// Makes one product of a batch that shares A or B and stacks the rest: rows of C follow each other from
/// matrix to matrix as they do inside one, or matrix by matrix row as in a batch whose index runs fastest.
template <class Types>
bool stack(uniform_batch<Types>& batch) {
  gemm_problem<Types>& p = batch.shape;
  if (batch.a.addresses || batch.b.addresses || batch.c.addresses) return false;
  const auto stack_along = [&](index_t& extent, index_t& stride, index_t step, index_t& c_stride) {
    if (step == extent * stride && batch.c.stride == extent * c_stride) {
      extent *= batch.count;
    } else if (stride == batch.count * step && c_stride == batch.count * batch.c.stride) {
      extent *= batch.count;
      stride = step, c_stride = batch.c.stride;
    } else {
      return false;
    }
    batch.count = 1;
    return true;
  };
  if (batch.b.stride == 0 && stack_along(p.m, p.a.stride_mn, batch.a.stride, p.c_row_stride)) return true;
  return batch.a.stride == 0 && stack_along(p.n, p.b.stride_mn, batch.b.stride, p.c_col_stride);
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory, uniform_batch<Types> batch,
                           batch_alignment alignment, const Epilogue& epilogue) {
  using planner = detail::planner<Exec>;
  const gemm_problem<Types>& p = batch.shape;
  if (batch.count == 0 || p.m == 0 || p.n == 0) return;
  if (p.k == 0 || needs_no_terms(epilogue)) {
    if (keeps_c_without_terms(epilogue)) return;
    launch("keramos::gemm_batched_scale", [&] {
      range_for("keramos::gemm_batched_scale", exec, range{batch.count, p.m, p.n},
                batched_scale_kernel<uniform_batch<Types>, Epilogue>{batch, without_terms(epilogue)});
    });
    return;
  }
  // Rows of stacked problems are not those of the caller's.
  if (!batch.c.addresses && !batch.a.addresses && !batch.b.addresses &&
      (batch.count == 1 || (is_linear<Epilogue> && stack(batch))))
    return run_gemm(exec, memory, batch.shape, epilogue, {});
  if (planner::prefers_transposed(p)) batch.transpose(), std::swap(alignment.a, alignment.b);
  const representative_problem<Types> shape(batch, alignment);
  if (planner::run_small(exec, batch, shape.get(), epilogue)) return;
  if constexpr (backend::traits<Exec>::is_host) {
    if (planner::fills_threads(exec, p, batch.count)) {
      for (index_t b = 0; b < batch.count; ++b) run_gemm(exec, memory, batch[b], epilogue, {});
      return;
    }
  }
  planner::choose_batched(
      exec, shape.get(), [&](const tiling::shape& block) { return batch.count * count_tiles(p, block); },
      [&](const auto& collective) {
        const tiling::shape block = collective.block();
        const int league = league_of(batch.count * count_tiles(p, block), batch.count);
        const tile_order order{int(ceil_div(p.m, block.m)), int(ceil_div(p.n, block.n)), 8};
        launch_tiles(exec, league, collective, uniform_tiles<Types>{batch, order}, epilogue);
      });
}

/// What remains to be done of a list: no empty problems, each with rows of C along memory.
template <class Exec, class Types, class Epilogue>
std::vector<grouped_problem<Types>> problems_to_do(const std::vector<gemm_problem<Types>>& problems,
                                                   const Epilogue& epilogue) {
  std::vector<grouped_problem<Types>> all;
  all.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    gemm_problem<Types> p = problems[i];
    p.place.batch = index_t(i);
    if (needs_no_terms(epilogue)) p.k = 0;
    if (p.m == 0 || p.n == 0 || (p.k == 0 && keeps_c_without_terms(epilogue))) continue;
    if (detail::planner<Exec>::prefers_transposed(p)) p.transpose();
    all.push_back({p});
  }
  return all;
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory,
                           const std::vector<gemm_problem<Types>>& problems, const Epilogue& epilogue) {
  using planner = detail::planner<Exec>;
  auto all = problems_to_do<Exec>(problems, epilogue);
  if (all.empty()) return;
  const representative_problem<Types> shape(all);
  if constexpr (backend::traits<Exec>::is_host) {
    // Small ones at the same time, each on one thread; of the others, each on all.
    const auto large = std::stable_partition(all.begin(), all.end(),
                                             [](const auto& p) { return p.k > 0 && planner::is_small(p); });
    const grouped_batch<Types> small{all.data(), large - all.begin()};
    if (small.count > 0) planner::run_small(exec, small, shape.get(), epilogue);
    for (auto p = large; p != all.end(); ++p) run_gemm(exec, memory, *p, epilogue, {});
  } else {
    const auto batch = [&] {
      return grouped_batch<Types>{memory.uploads.upload(exec, all), index_t(all.size())};
    };
    if (planner::is_small(all)) {
      planner::run_small(exec, batch(), shape.get(), epilogue);
      return;
    }
    const auto tiles_of_all = [&](const tiling::shape& block) {
      index_t tiles = 0;
      for (const auto& p : all) tiles += count_tiles(p, block);
      return tiles;
    };
    planner::choose_batched(exec, shape.get(), tiles_of_all, [&](const auto& collective) {
      const tiling::shape block = collective.block();
      const int league = league_of(tiles_of_all(block), index_t(all.size()));
      int first = 0;
      for (auto& p : all) {
        p.first_tile = first;
        p.tiles_m = int(ceil_div(p.m, block.m)), p.tiles_n = int(ceil_div(p.n, block.n));
        first += p.tiles_m * p.tiles_n;
      }
      launch_tiles(exec, league, collective, grouped_tiles<Types>{batch()}, epilogue);
    });
  }
}

}  // namespace keramos::detail

// One problem in block tiles, each computed by a team with a collective.
#pragma once

#include <algorithm>
#include <string>

#include <keramos/base/error.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// One kernel for all tiles of a problem.
template <gemm_collective Collective, class Epilogue>
struct gemm_kernel : dealt_teams_of<Collective> {
  using types = typename Collective::types;

  Collective collective;
  gemm_problem<types> p;
  shifting_order order;
  Epilogue epilogue;
  split_k<typename types::accumulator> split;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    collective.run(team, p, tile<Team>{*this, team}, epilogue);
  }

 private:
  /// A team's tile, or its part of k of one.
  template <class Team>
  struct tile {
    const gemm_kernel& kernel;
    const Team& team;
    int steps = 0;  // behind the team's first tile

    KERAMOS_FORCEINLINE_FUNCTION auto position() const {
      auto at = kernel.order.at(number(), kernel.collective.block(), kernel.p.m + kernel.p.pad_m,
                                kernel.p.n + kernel.p.pad_n, kernel.p.k);
      if constexpr (Collective::splits_k) kernel.split.narrow(at, number(), part());
      return at;
    }
    template <class Threads, class Accumulator>
    KERAMOS_FORCEINLINE_FUNCTION bool add_up([[maybe_unused]] const Threads& threads,
                                             [[maybe_unused]] Accumulator& sums) const {
      if constexpr (Collective::splits_k) {
        constexpr tiling::shape block = Collective::block();
        return kernel.split.template add_up<block.m * block.n, Collective::summing_threads>(threads, number(),
                                                                                            part(), sums);
      } else {
        return true;
      }
    }
    KERAMOS_FORCEINLINE_FUNCTION bool next() {
      steps += team.league_size();
      return rank() < ranks();
    }

    KERAMOS_FORCEINLINE_FUNCTION bool is_drawn() const { return kernel.collective.drawn != nullptr; }
    KERAMOS_FORCEINLINE_FUNCTION drawn_tiles draws() const {
      return {kernel.collective.drawn, team.league_size(), ranks()};
    }
    KERAMOS_FORCEINLINE_FUNCTION void take(int rank) { steps = rank - first(); }

   private:
    KERAMOS_FORCEINLINE_FUNCTION int ranks() const { return kernel.split.ranks(); }
    KERAMOS_FORCEINLINE_FUNCTION int first() const {
      return kernel.rank_of(Collective::recompute(team.league_rank()), team.league_size());
    }
    KERAMOS_FORCEINLINE_FUNCTION int rank() const {
      return Collective::persistent ? first() + steps : first();
    }
    KERAMOS_FORCEINLINE_FUNCTION int part() const {
      return Collective::splits_k ? kernel.split.part_of(rank()) : 0;
    }
    KERAMOS_FORCEINLINE_FUNCTION int number() const { return kernel.split.tile_of(rank(), part()); }
  };
};

/// The order of the tiles of a problem, each of which is done in `parts` parts of k; throws if these are too many.
template <class Types>
tile_order order_of(const gemm_problem<Types>& p, const tiling::shape& tile, int parts) {
  const index_t tiles_m = ceil_div(p.m, tile.m), tiles_n = ceil_div(p.n, tile.n);
  if (tiles_m > most_tiles / tiles_n / parts)
    throw launch_error("keramos::gemm: C is " + std::to_string(p.m) + "x" + std::to_string(p.n) +
                       ", more than 2^31 - 65536 block tiles and parts of k; split it into several calls");
  return order_of(p.m, p.n, tile);
}

/// The tiles of a problem that a part does, and memory for their parts of k behind the first `in_use` bytes, which are taken.
template <class Exec, class Types>
split_k<typename Types::accumulator> split_of(const Exec& exec, workspace<Exec>& memory,
                                              const gemm_problem<Types>& p, const gemm_part& part,
                                              std::size_t in_use) {
  const tiling::shape& tile = part.block;
  const int tiles = order_of(p, tile, part.split.parts).count() - corner_of(part).tiles();
  return make_split<typename Types::accumulator>(exec, memory, part.split, p.k, tiles, tile.m * tile.n,
                                                 in_use);
}
/// Bytes of that memory.
template <class Types>
std::size_t split_bytes(const gemm_problem<Types>& p, const tiling::shape& tile, const split_plan& plan) {
  return sizeof(typename Types::accumulator) *
         sums_of(plan, order_of(p, tile, plan.parts).count(), tile.m * tile.n);
}

/// The teams of a collective that a GPU holds at once. Persistent ones are no more, and share all tiles.
template <class Collective, class Exec>
int teams_at_once(const Exec& exec) {
  return backend::tiles<Exec>::model(exec).units * Collective::teams_per_unit;
}

/// An epilogue that holds as much as epilogues may.
struct largest_epilogue {
  void* held[most_epilogue_bytes / sizeof(void*)];
};

/// Launches one kernel for all tiles of a problem; `split` is that of its tiles.
template <class Exec, class Collective, class Types, class Epilogue>
void launch_tiled(const Exec& exec, const Collective& collective, const gemm_problem<Types>& p,
                  const split_k<typename Types::accumulator>& split, const Epilogue& epilogue) {
  if constexpr (is_collective<Collective>()) {
    using kernel = gemm_kernel<Collective, Epilogue>;
    if constexpr (!backend::traits<Exec>::is_host)
      static_assert(
          sizeof(gemm_kernel<Collective, largest_epilogue>) <= backend::traits<Exec>::most_kernel_bytes,
          "keramos: kernels of this collective leave less room than docs/limits.md promises epilogues");
    const shifting_order order{order_of(p, collective.block(), split.parts), Collective::can_shift_m(p),
                               Collective::can_shift_n(p)};
    if constexpr (requires { Collective::template check_compiled<kernel>(exec); })
      Collective::template check_compiled<kernel>(exec);
    int teams = split.ranks();
    if constexpr (Collective::persistent) teams = std::min(teams, teams_at_once<Collective>(exec));
    team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
        "keramos::gemm", exec, teams, collective.local_bytes(),
        kernel{deal_teams<Collective>(exec), collective, p, order, epilogue, split});
  }
}

}  // namespace keramos::detail

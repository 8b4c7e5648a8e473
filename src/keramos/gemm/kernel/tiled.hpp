// One problem in block tiles, each computed by a team with a collective.
#pragma once

#include <algorithm>
#include <limits>
#include <string>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// One kernel for all tiles of a problem.
template <gemm_collective Collective, class Epilogue>
struct gemm_kernel {
  using types = typename Collective::types;

  Collective collective;
  gemm_problem<types> p;
  shifting_order order;
  Epilogue epilogue;
  split_k<typename types::accumulator> split = {};

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    collective.run(team, p, tile<Team>{*this, team}, epilogue);
  }

 private:
  /// A team's tile, or its part of k of one. Teams of one part of k follow each other: those that run at the same time
  /// read the same k-tiles.
  template <class Team>
  struct tile {
    const gemm_kernel& kernel;
    const Team& team;

    KERAMOS_FORCEINLINE_FUNCTION auto position() const {
      auto at = kernel.order.at(number(), kernel.collective.block(), kernel.p.m + kernel.p.pad_m,
                                kernel.p.n + kernel.p.pad_n, kernel.p.k);
      if constexpr (Collective::splits_k) kernel.split.narrow(at, part());
      return at;
    }
    template <class Accumulator>
    KERAMOS_FORCEINLINE_FUNCTION bool add_up([[maybe_unused]] Accumulator& sums) const {
      if constexpr (Collective::splits_k) {
        constexpr tiling::shape block = Collective::block();
        return kernel.split.template add_up<block.m * block.n, Collective::team_size>(team, number(), part(),
                                                                                      sums);
      } else {
        return true;
      }
    }

   private:
    KERAMOS_FORCEINLINE_FUNCTION int rank() const { return Collective::recompute(team.league_rank()); }
    KERAMOS_FORCEINLINE_FUNCTION int part() const {
      return Collective::splits_k ? rank() / kernel.order.count() : 0;
    }
    KERAMOS_FORCEINLINE_FUNCTION int number() const { return rank() - part() * kernel.order.count(); }
  };
};

/// Launches one kernel for all tiles of a problem.
template <class Exec, gemm_collective Collective, class Epilogue>
void launch_tiled(const Exec& exec, workspace<Exec>& memory, const Collective& collective,
                  const gemm_problem<typename Collective::types>& p, const split_plan& plan,
                  const Epilogue& epilogue) {
  using kernel = gemm_kernel<Collective, Epilogue>;
  static_assert(backend::traits<Exec>::is_host || sizeof(kernel) <= 350,
                "keramos: with more Kokkos would pass the functor through constant memory and wait");
  const tiling::shape tile = collective.block();
  const index_t tiles_m = ceil_div(p.m, tile.m), tiles_n = ceil_div(p.n, tile.n);
  if (tiles_m > std::numeric_limits<int>::max() / tiles_n / plan.parts)
    throw launch_error("keramos::gemm: C is " + std::to_string(p.m) + "x" + std::to_string(p.n) +
                       ", more than 2^31 - 1 block tiles and parts of k; split it into several calls");
  const shifting_order order{{int(tiles_m), int(tiles_n), int(std::min<index_t>(tiles_m, 8))},
                             Collective::can_shift_m(p),
                             Collective::can_shift_n(p)};
  kernel k{collective, p, order, epilogue};
  if constexpr (Collective::splits_k)
    k.split = make_split<typename Collective::types::accumulator>(exec, memory, plan, p.k, order.count(),
                                                                  tile.m * tile.n);
  team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
      "keramos::gemm", exec, order.count() * plan.parts, collective.local_bytes(), k);
}

}  // namespace keramos::detail

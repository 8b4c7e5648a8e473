// From a checked problem to a launch: which path, which tile, how many teams. Compiled into the library;
// include it to instantiate GEMM for other types or epilogues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/concept.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/planner.hpp>
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

/// C = epilogue(0, C): what is left of a GEMM when nothing is to be multiplied.
template <class Types, class Epilogue>
struct scale_kernel {
  gemm_problem<Types> p;
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<2> at) const {
    write_element(epilogue, p.place, typename Types::accumulator(0),
                  p.c[at[0] * p.c_row_stride + at[1] * p.c_col_stride], at[0], at[1]);
  }
};

template <class Exec, class Types, class Epilogue>
[[gnu::noinline]] void dispatch_scale(const Exec& exec, const gemm_problem<Types>& p,
                                      const Epilogue& epilogue) {
  launch("keramos::gemm_scale", [&] {
    range_for("keramos::gemm_scale", exec, range{p.m, p.n},
              scale_kernel<Types, Epilogue>{p, without_terms(epilogue)});
  });
}

/// Throws unless the tile of a part that the caller asked for fits, whichever way operands lie; names one that does.
template <class Exec, class Types>
void check_tile_fits(const Exec& exec, const gemm_problem<Types>& p, gemm_part part, bool planned) {
  if (part.path != gemm_path::tiled) return;
  planner<Exec>::template tell_team<Types>(part);
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, part.team_size);
  if (part.local_bytes <= limit) return;
  gemm_part fitting;
  planner<Exec>::choose_tiles(exec, p, std::nullopt, fitting);
  throw launch_error(
      "keramos::gemm: options." + std::string(planned ? "plan has a block tile of " : "block is ") +
      to_string(part.block) + ", which needs " + std::to_string(part.local_bytes) +
      " bytes of local memory, but " + backend::traits<Exec>::name + " has " + std::to_string(limit) +
      " for a team of " + std::to_string(part.team_size) + "; pass " + to_string(fitting.block) + " or none");
}

/// Launches one kernel for all tiles of a problem.
template <class Exec, class Epilogue>
struct tile_launcher {
  const Exec& exec;
  workspace<Exec>& memory;
  const Epilogue& epilogue;

  template <gemm_collective Collective>
  void operator()(const Collective& collective, const gemm_problem<typename Collective::types>& p,
                  const split_plan& plan) const {
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
};

/// How keramos::gemm does a problem.
template <class Exec, class Types>
gemm_plan choose_plan(const Exec& exec, const gemm_problem<Types>& p, const gemm_options& options) {
  gemm_plan plan{p.m, p.n, p.k, backend::traits<Exec>::name, Types::name};
  if (p.m == 0 || p.n == 0 || p.k == 0) return plan;
  if (options.block && !options.plan) check_block(*options.block);
  detail::planner<Exec>::choose(exec, p, options.block,
                                [&](const gemm_part& part) { plan.parts[plan.size++] = part; });
  return plan;
}

/// The problem of a part, transposed if the part is.
template <class Types>
gemm_problem<Types> problem_of(const gemm_problem<Types>& p, const gemm_part& part) {
  gemm_problem<Types> q = p.part(part.m0, part.n0, part.m, part.n);
  if (part.transposed) q.transpose();
  return q;
}

/// Does a problem as it is planned, or as the planner chooses, part by part. Not inlined: a tiny product is over in less
/// time than it takes to make room on the stack for a part.
template <class Exec, class Types, class Epilogue>
[[gnu::noinline]] void run_parts(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                                 const Epilogue& epilogue, const gemm_options& options) {
  using planner = detail::planner<Exec>;
  const tile_launcher<Exec, Epilogue> launch{exec, memory, epilogue};
  const auto run = [&](const gemm_part& part) {
    const gemm_problem<Types> q = problem_of(p, part);
    if (options.block && !options.plan) check_tile_fits(exec, q, part, false);
    planner::run(exec, memory, q, part, epilogue, launch);
  };
  if (!options.plan) return planner::choose(exec, p, options.block, run);
  const gemm_plan& plan = *options.plan;
  check_plan(plan, p.m, p.n, p.k, backend::traits<Exec>::name, Types::name);
  for (int i = 0; i < plan.size; ++i) {  // all of them first: what cannot be done at all launches nothing
    const gemm_problem<Types> q = problem_of(p, plan.parts[i]);
    planner::check(exec, q, plan.parts[i], i);
    check_tile_fits(exec, q, plan.parts[i], true);
  }
  for (int i = 0; i < plan.size; ++i) run(plan.parts[i]);
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                   const Epilogue& epilogue, const gemm_options& options) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0 || needs_no_terms(epilogue)) {
    if (!keeps_c_without_terms(epilogue)) dispatch_scale(exec, p, epilogue);
    return;
  }
  if (options.block && !options.plan) check_block(*options.block);
  if (!options.block && !options.plan && detail::planner<Exec>::run_tiny(exec, p, epilogue)) return;
  run_parts(exec, memory, p, epilogue, options);
}

}  // namespace keramos::detail

// From a checked problem to a launch: which path, which tile, how many teams. Compiled into the library;
// include it to instantiate GEMM for other types or epilogues.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/main_loop.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

template <class Collective, class T, class Epilogue>
struct gemm_kernel {
  Collective collective;
  gemm_problem<T> p;
  shifting_order order;
  Epilogue epilogue;
  split_k<T> split = {};

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    // Teams of one part of k follow each other: those that run at the same time read the same k-tiles.
    const auto part = [&] { return Collective::splits_k ? rank(team) / order.count() : 0; };
    const auto tile = [&] { return rank(team) - part() * order.count(); };
    const auto locate = [&] {
      auto at = order.at(tile(), collective.block(), p.m + p.pad_m, p.n + p.pad_n, p.k);
      if constexpr (Collective::splits_k) split.narrow(at, part());
      return at;
    };
    gemm_tile(collective, team, p, locate, epilogue, [&](auto& acc) {
      if constexpr (Collective::splits_k) {
        constexpr tiling::shape block = Collective::block();
        return split.template add_up<block.m * block.n, Collective::team_size>(team, tile(), part(), acc);
      } else {
        return true;
      }
    });
  }

 private:
  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION static int rank(const Team& team) {
    return Collective::recompute(team.league_rank());
  }
};

/// C = epilogue(0, C): what is left of a GEMM when nothing is to be multiplied.
template <class T, class Epilogue>
struct scale_kernel {
  gemm_problem<T> p;
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<2> at) const {
    write_element(epilogue, p.place, T(0), p.c[at[0] * p.c_row_stride + at[1] * p.c_col_stride], at[0],
                  at[1]);
  }
};

template <class Exec, class T, class Epilogue>
[[gnu::noinline]] void dispatch_scale(const Exec& exec, const gemm_problem<T>& p, const Epilogue& epilogue) {
  launch("keramos::gemm_scale", [&] {
    range_for("keramos::gemm_scale", exec, range{p.m, p.n},
              scale_kernel<T, Epilogue>{p, without_terms(epilogue)});
  });
}

/// Throws unless the tile that the caller asked for fits; names one that does.
template <class Exec, class T, class Collective>
void check_requested_tile(const Exec& exec, const gemm_problem<T>& p, const gemm_options& options,
                          const Collective& collective) {
  const std::size_t bytes = collective.local_bytes();
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, Collective::team_size);
  if (bytes <= limit) return;
  gemm_part fitting;
  detail::planner<Exec>::choose_tiles(exec, p, std::nullopt, fitting);
  throw launch_error("keramos::gemm: options." +
                     std::string(options.plan ? "plan has a block tile of " : "block is ") +
                     to_string(collective.block()) + ", which needs " + std::to_string(bytes) +
                     " bytes of local memory, but " + backend::traits<Exec>::name + " has " +
                     std::to_string(limit) + " for a team of " + std::to_string(Collective::team_size) +
                     "; pass " + to_string(fitting.block) + " or none");
}

/// Launches one kernel for all tiles of a problem.
template <class Exec, class T, class Epilogue>
struct tile_launcher {
  const Exec& exec;
  workspace<Exec>& memory;
  const Epilogue& epilogue;
  const gemm_options& options;

  template <class Collective>
  void operator()(const Collective& collective, const gemm_problem<T>& p, const split_plan& plan) const {
    using kernel = gemm_kernel<Collective, T, Epilogue>;
    static_assert(backend::traits<Exec>::is_host || sizeof(kernel) <= 350,
                  "keramos: with more Kokkos would pass the functor through constant memory and wait");
    if (options.block || options.plan) check_requested_tile(exec, p, options, collective);
    const tiling::shape tile = collective.block();
    const index_t tiles_m = (p.m + tile.m - 1) / tile.m, tiles_n = (p.n + tile.n - 1) / tile.n;
    if (tiles_m > std::numeric_limits<int>::max() / tiles_n / plan.parts)
      throw launch_error("keramos::gemm: C is " + std::to_string(p.m) + "x" + std::to_string(p.n) +
                         ", more than 2^31 - 1 block tiles and parts of k; split it into several calls");
    const shifting_order order{{int(tiles_m), int(tiles_n), int(std::min<index_t>(tiles_m, 8))},
                               collective.can_shift_m(p),
                               collective.can_shift_n(p)};
    kernel k{collective, p, order, epilogue};
    if constexpr (Collective::splits_k)
      k.split = make_split<T>(exec, memory, plan, p.k, order.count(), tile.m * tile.n);
    team_launch<Collective::team_size, Collective::teams_per_unit, sharing::balanced>(
        "keramos::gemm", exec, order.count() * plan.parts, collective.local_bytes(), k);
  }
};

/// Throws if the block tile that is asked for has no extents, or such that bytes could wrap.
inline void check_block(const gemm_options& options) {
  constexpr int most = 1 << 20;  // nothing so large fits any device
  const auto possible = [](int extent) { return 0 < extent && extent <= most; };
  if (options.plan || !options.block) return;
  if (!(possible(options.block->m) && possible(options.block->n) && possible(options.block->k)))
    throw launch_error("keramos::gemm: options.block is " + to_string(*options.block) +
                       " but its extents must be from 1 to 2^20; pass others or none");
}

/// How keramos::gemm does a problem.
template <class Exec, class T>
gemm_plan choose_plan(const Exec& exec, const gemm_problem<T>& p, const gemm_options& options) {
  gemm_plan plan{p.m, p.n, p.k, backend::traits<Exec>::name, type_name<T>};
  if (p.m == 0 || p.n == 0 || p.k == 0) return plan;
  check_block(options);
  detail::planner<Exec>::choose(exec, p, options.block,
                                [&](const gemm_part& part) { plan.parts[plan.size++] = part; });
  return plan;
}

/// The problem of a part, transposed if the part is.
template <class T>
gemm_problem<T> problem_of(const gemm_problem<T>& p, const gemm_part& part) {
  gemm_problem<T> q = p.part(part.m0, part.n0, part.m, part.n);
  if (part.transposed) q.transpose();
  return q;
}

/// Does a problem as it is planned, or as the planner chooses, part by part. Not inlined: a tiny product is over in less
/// time than it takes to make room on the stack for a part.
template <class Exec, class T, class Epilogue>
[[gnu::noinline]] void run_parts(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                                 const Epilogue& epilogue, const gemm_options& options) {
  using planner = detail::planner<Exec>;
  const tile_launcher<Exec, T, Epilogue> launch{exec, memory, epilogue, options};
  const auto run = [&](const gemm_part& part) {
    planner::run(exec, memory, problem_of(p, part), part, epilogue, launch);
  };
  if (!options.plan) return planner::choose(exec, p, options.block, run);
  const gemm_plan& plan = *options.plan;
  check_plan(plan, p.m, p.n, p.k, backend::traits<Exec>::name, type_name<T>);
  for (int i = 0; i < plan.size; ++i)  // all of them first: what cannot be done at all launches nothing
    planner::check(exec, problem_of(p, plan.parts[i]), plan.parts[i], i);
  for (int i = 0; i < plan.size; ++i) run(plan.parts[i]);
}

template <class Exec, class T, class Epilogue>
void dispatch_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                   const Epilogue& epilogue, const gemm_options& options) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0 || needs_no_terms(epilogue)) {
    if (!keeps_c_without_terms(epilogue)) dispatch_scale(exec, p, epilogue);
    return;
  }
  check_block(options);
  if (!options.block && !options.plan && detail::planner<Exec>::run_tiny(exec, p, epilogue)) return;
  run_parts(exec, memory, p, epilogue, options);
}

}  // namespace keramos::detail

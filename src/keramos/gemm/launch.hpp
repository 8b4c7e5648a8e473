// From a checked problem to a launch: which path, which tile, how many teams. Compiled into the library;
// include it to instantiate GEMM for other types or epilogues.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/main_loop.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan.hpp>
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
    T& c = p.c[at[0] * p.c_row_stride + at[1] * p.c_col_stride];
    c = epilogue.reads_c() ? epilogue(T(0), c, at[0], at[1]) : epilogue(T(0), at[0], at[1]);
  }
};

/// C = beta·C.
template <class Exec, class T>
[[gnu::noinline]] void dispatch_scale(const Exec& exec, const gemm_problem<T>& p, T beta) {
  // The linear epilogue would form 0·inf or keep -0 where C must become exactly 0.
  launch("keramos::gemm_scale", [&] {
    range_for("keramos::gemm_scale", exec, range{p.m, p.n},
              scale_kernel<T, linear_epilogue<T>>{p, {T(0), beta}});
  });
}

/// Throws unless the block tile that the caller asked for has extents and fits; names one that does.
template <class Exec, class T, class Collective>
void check_requested_block(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                           const tiling::shape& block, const Collective& collective) {
  const std::size_t bytes = collective.local_bytes();
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, Collective::team_size);
  if (bytes <= limit) return;
  std::string fitting;
  detail::planner<Exec>::choose(exec, memory, p, std::nullopt,
                                [&](const auto& m, const auto&...) { fitting = to_string(m.block()); });
  throw launch_error("keramos::gemm: options.block is " + to_string(block) + ", which needs " +
                     std::to_string(bytes) + " bytes of local memory, but " + backend::traits<Exec>::name +
                     " has " + std::to_string(limit) + " for a team of " +
                     std::to_string(Collective::team_size) + "; pass " + fitting + " or none");
}

template <class Exec, class T>
void dispatch_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                   const linear_epilogue<T>& epilogue, const std::optional<tiling::shape>& block);

/// The first m x n of C, the rows below and the columns beside them: each on its own, as it runs best.
template <class Exec, class T>
void dispatch_parts(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p, index_t m, index_t n,
                    const linear_epilogue<T>& epilogue) {
  const auto multiply = [&](index_t m0, index_t n0, index_t rows, index_t cols) {
    const T* const a = p.a.at(m0, 0);
    const T* const b = p.b.at(n0, 0);
    dispatch_gemm<Exec, T>(exec, memory,
                           {{a, p.a.stride_mn, p.a.stride_k},
                            {b, p.b.stride_mn, p.b.stride_k},
                            p.c + m0 * p.c_row_stride + n0 * p.c_col_stride,
                            p.c_row_stride,
                            p.c_col_stride,
                            rows,
                            cols,
                            p.k},
                           epilogue, std::nullopt);
  };
  multiply(0, 0, m, n);
  if (m < p.m) multiply(m, 0, p.m - m, p.n);
  if (n < p.n) multiply(0, n, m, p.n - n);
}

/// What is multiplied in tiles. Not inlined, as dispatch_scale is not: a product that is done directly is over in
/// less time than it takes to make room on the stack for all that these need.
template <class Exec, class T>
[[gnu::noinline]] void dispatch_tiles(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                                      const linear_epilogue<T>& epilogue,
                                      const std::optional<tiling::shape>& block) {
  using planner = detail::planner<Exec>;
  if constexpr (!backend::traits<Exec>::is_host) {
    if (!block) {
      const auto part = planner::choose_main(exec, p);
      if (part.m < p.m || part.n < p.n) return dispatch_parts(exec, memory, p, part.m, part.n, epilogue);
    }
  }
  const auto launch_on = [&](const auto& collective, const gemm_problem<T>& p, const split_plan& plan = {}) {
    using collective_type = std::remove_cvref_t<decltype(collective)>;
    using kernel = gemm_kernel<collective_type, T, linear_epilogue<T>>;
    static_assert(sizeof(kernel) <= 350,
                  "keramos: with more Kokkos would pass the functor through constant memory and wait");
    if (block) check_requested_block(exec, memory, p, *block, collective);
    const tiling::shape tile = collective.block();
    const index_t tiles_m = (p.m + tile.m - 1) / tile.m, tiles_n = (p.n + tile.n - 1) / tile.n;
    if (tiles_m > std::numeric_limits<int>::max() / tiles_n)
      throw launch_error("keramos::gemm: C is " + std::to_string(p.m) + "x" + std::to_string(p.n) +
                         ", more than 2^31 - 1 block tiles; split it into several calls");
    const shifting_order order{
        {int(tiles_m), int(tiles_n), 8}, collective.can_shift_m(p), collective.can_shift_n(p)};
    kernel k{collective, p, order, epilogue};
    if constexpr (collective_type::splits_k) {
      k.split = make_split<T>(exec, memory, plan, order.count(), tile.m * tile.n);
    }
    team_launch<collective_type::team_size, collective_type::teams_per_unit, sharing::balanced>(
        "keramos::gemm", exec, order.count() * plan.parts, collective.local_bytes(), k);
  };
  planner::choose(exec, memory, p, block, launch_on);
}

template <class Exec, class T>
void dispatch_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                   const linear_epilogue<T>& epilogue, const std::optional<tiling::shape>& block) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0 || epilogue.alpha == T(0)) {
    if (epilogue.beta != T(1)) dispatch_scale(exec, p, epilogue.beta);
    return;
  }
  constexpr int most = 1 << 20;  // so that bytes do not wrap; nothing so large fits any device
  const auto possible = [](int extent) { return 0 < extent && extent <= most; };
  if (block && !(possible(block->m) && possible(block->n) && possible(block->k)))
    throw launch_error("keramos::gemm: options.block is " + to_string(*block) +
                       " but its extents must be from 1 to 2^20; pass others or none");
  using planner = detail::planner<Exec>;
  if (planner::prefers_transposed(p)) {  // which its transpose does not
    gemm_problem<T> transposed = p;
    transposed.transpose();
    return dispatch_gemm(exec, memory, transposed, epilogue, block);
  }
  if (!block && planner::run_untiled(exec, memory, p, epilogue)) return;
  dispatch_tiles(exec, memory, p, epilogue, block);
}

}  // namespace keramos::detail

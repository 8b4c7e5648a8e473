// The collectives of GPUs: tiles of both operands staged into team scratch, multiplied from registers.
#pragma once

#include <cstddef>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/fma.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/warp_mma.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Exec, class T, tiling::config Config>
using accumulator_for =
    std::conditional_t<Config.math == tiling::math_unit::matrix, warp_mma_accumulator<T, Config, Exec>,
                       fma_accumulator<T, Config, Exec>>;

/// One way to run a GEMM: a tile configuration, and how the operands' memory runs.
template <class Exec, class T, tiling::config Config, access A, access B>
class collective {
 public:
  static constexpr int stages = Config.stages;
  static constexpr int team_size = Config.warps() * backend::traits<Exec>::warp_size;
  static constexpr bool splits_k = Config.splits_k;

 private:
  using accumulator_type = accumulator_for<Exec, T, Config>;
  static constexpr tiling::direction rows(const access& x) {
    return accumulator_type::reads_either ? x.along : tiling::direction::mn;
  }
  using copier = backend::staging<Exec>;
  using stager = simt::stager<T, Config, A, rows(A), B, rows(B), team_size, copier>;

 public:
  static constexpr std::size_t bytes = sizeof(T) * stages * stager::slot_size;
  static constexpr int teams_per_unit = backend::traits<Exec>::teams_per_unit(Config.teams, team_size, bytes);

  KERAMOS_FORCEINLINE_FUNCTION static constexpr tiling::shape block() { return Config.block; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return copier::recompute(x); }
  KERAMOS_FORCEINLINE_FUNCTION static constexpr std::size_t local_bytes() { return bytes; }

  /// Whether the last tiles can begin early (tile_order): there is as much before them, and copies of 16 bytes
  /// stay aligned.
  static bool can_shift_m(const gemm_problem<T>& p) { return can_shift(p.m + p.pad_m, Config.block.m, A); }
  static bool can_shift_n(const gemm_problem<T>& p) { return can_shift(p.n + p.pad_n, Config.block.n, B); }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION auto operands(const Team& team, const gemm_problem<T>& p,
                                             const tiling::position& at) const {
    T* local = static_cast<T*>(team.team_scratch(0).get_shmem_aligned(local_bytes(), 128));
    return stager(p, at, local, int(team.team_rank()));
  }
  template <class Team, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const gemm_problem<T>&,
                                                const tiling::position&, const Epilogue&) const {
    return accumulator_type(int(team.team_rank()));
  }

 private:
  static bool can_shift(index_t extent, int tile, const access& x) {
    return extent >= tile && (x.along == tiling::direction::k || extent % x.vector == 0);
  }
};

}  // namespace keramos::detail::simt

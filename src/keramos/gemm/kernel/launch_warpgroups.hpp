// Launches of products by warpgroups, which kernel/warpgroups.hpp declares. Compiled into the library, and where callers fuse
// epilogues (fused.hpp), for the one architecture whose warpgroups it uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

#include <keramos/backends/simt/tiles.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_table.hpp>
#include <keramos/gemm/collective/warpgroup.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/kernel/tiled_batch.hpp>
#include <keramos/gemm/kernel/warpgroups.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>

namespace keramos::detail::simt {

/// How warpgroups read the operands of a problem. It stands as a number in kernels' names, as operand_access does.
struct warpgroup_form {
  bool a_along_k = false, b_along_k = false;          ///< their memory runs along k, as lines do
  bool a_second_kind = false, b_second_kind = false;  ///< of elements (tiling::reading)
  bool in_lines =
      false;  ///< both may be stored in lines; those of Types::needs_matrix_units may without this

  static constexpr int numbers_without_lines = 16;
  constexpr int number() const {
    return int(a_along_k) + 2 * int(b_along_k) + 4 * int(a_second_kind) + 8 * int(b_second_kind) +
           16 * int(in_lines);
  }
  static constexpr warpgroup_form of(int number) {
    return {(number & 1) != 0, (number & 2) != 0, (number & 4) != 0, (number & 8) != 0, (number & 16) != 0};
  }
};
constexpr tiling::direction memory_runs(bool along_k) {
  return along_k ? tiling::direction::k : tiling::direction::mn;
}

/// The collective of a row of the backend's table, for operands of warpgroup_form::of(Form).
template <class Exec, class Types, int Row, int Form>
struct warpgroup_row
    : warpgroup_collective<Exec, Types, backend::tiles<Exec>::table[Row].config,
                           memory_runs(warpgroup_form::of(Form).a_along_k),
                           memory_runs(warpgroup_form::of(Form).b_along_k),
                           warpgroup_form::of(Form).a_second_kind, warpgroup_form::of(Form).b_second_kind,
                           Types::needs_matrix_units || warpgroup_form::of(Form).in_lines> {};

/// Whether an operand runs along k as warpgroups read it; what is packed in lines does.
template <class Types, class T>
bool runs_along_k(const tiling::operand<T>& x) {
  return Types::needs_matrix_units ? x.stride_k == 1 || x.stride_mn != 1 : operand_layout(x).along_k;
}

/// The number of the form of a problem's operands.
template <class Types>
int form_number(const gemm_problem<Types>& p) {
  return warpgroup_form{runs_along_k<Types>(p.a), runs_along_k<Types>(p.b), bool(p.a.kind()),
                        bool(p.b.kind())}
      .number();
}

/// The kernels of warpgroups, for one problem or for batches (kernel/with_kernel.hpp). Operands that warpgroups do not read
/// along m or n run along k, and of some elements there is one kind only.
template <class Exec, class Types, bool OfBatch>
struct warpgroup_kernels {
  static constexpr int rows = int(std::size(backend::tiles<Exec>::table)),
                       accesses = warpgroup_form::numbers_without_lines;

  static constexpr bool exists(int row, int number) {
    const tile_row& r = backend::tiles<Exec>::table[row];
    if (r.types != Types::operands || r.config.math != tiling::math_unit::warpgroup || !can_fit<Exec>(r) ||
        r.serves == (OfBatch ? serves::single : serves::batches))
      return false;
    const warpgroup_form form = warpgroup_form::of(number);
    return (form.a_along_k || table_rows<Exec>::template warpgroups_read_along_mn<Types>(true)) &&
           (form.b_along_k || table_rows<Exec>::template warpgroups_read_along_mn<Types>(false)) &&
           (tiling::reading<typename Types::a>::has_kinds || (!form.a_second_kind && !form.b_second_kind));
  }
};

/// The most problems of a batch that get a map each, which then take 64 MiB. With more of them threads copy.
inline constexpr index_t most_mapped_problems = index_t(1) << 18;

/// How the operands of a batch repeat if one map can tell of all its problems: an operand of one problem is at equal distances
/// from that of the next, which the unit that copies boxes counts in 40 bits of bytes.
template <class Types>
std::optional<repeated_operands> repeated(const uniform_batch<Types>& batch) {
  const auto can = [](const batch_place& x, std::size_t element_bytes) {
    return !x.addresses && x.stride > 0 && x.stride < (index_t(1) << 40) / index_t(element_bytes);
  };
  // Of one problem the stride may be any; of more it was seen to be a multiple of 16 bytes (representative_of).
  if (batch.count == 1 || !can(batch.a, sizeof(typename Types::a)) ||
      !can(batch.b, sizeof(typename Types::b)))
    return {};
  return repeated_operands{batch.count, batch.a.stride, batch.b.stride};
}
template <class Types>
std::optional<repeated_operands> repeated(const grouped_batch<Types>&) {
  return {};
}

template <class Exec, class Types, class Epilogue>
void launch_warpgroups(const Exec& exec, workspace<Exec>& memory, int row, const gemm_problem<Types>& p,
                       const split_k<typename Types::accumulator>& split, const Epilogue& epilogue) {
  if constexpr (has_warpgroup_rows<Exec, Types>) {
    using family = warpgroup_kernels<Exec, Types, false>;
    with_kernel<family>(row, form_number(p), [&](auto known_row, auto form) {
      using C = warpgroup_row<Exec, Types, known_row(), form()>;
      C collective;
      if (C::reads_boxes(p) && can_map(p))
        collective.maps.first = memory.of_kernels(exec, teams_at_once<C>(exec) * C::map_bytes);
      if (C::by_one_thread(collective.maps) && split.ranks() > teams_at_once<C>(exec))
        collective.drawn = memory.counter(exec);
      launch_tiled(exec, collective, p, split, epilogue);
    });
  }
}

/// Makes the maps of a batch, a warp for each pair of A's and B's: one pair for all problems, or one for each.
template <class Collective, class Tiles>
struct batch_maps_kernel {
  static constexpr int local_bytes = 2 * int(Collective::map_bytes);  ///< with room to align them

  Tiles tiles;
  repeated_operands operands;
  char* maps;

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION void operator()(const Team& team) const {
    const int number = int(team.league_rank());
    const gemm_problem<typename Collective::types> p = tiles.problem(number);
    if (Tiles::mixed && p.k == 0) return;
    constexpr int bytes = local_bytes;  // which is taken by reference
    auto local =
        reinterpret_cast<std::uintptr_t>(team.team_scratch(0).get_shmem_aligned(bytes, local_alignment));
    local = (local + Collective::map_bytes - 1) / Collective::map_bytes * Collective::map_bytes;
    Collective::make_maps_of_batch(p, operands, reinterpret_cast<char*>(local),
                                   maps + number * Collective::map_bytes, int(team.team_rank()));
  }
};

/// Whether teams draw the tiles of a batch, or take turns. Multiprocessors get unequal shares of a busy memory, and in turns some
/// of them end early: with n = 128 of bf16 an H200's worked from 65 to 100 % of the time (docs/performance.md has the command).
/// But teams that take turns read what their tiles share at the same time, and the last-level cache reads it once. With n = 512,
/// and `most` set higher to draw them, they read half as much again from it and took 5 % longer. So tiles are drawn where problems
/// have few.
template <class Types>
bool draws_tiles(const uniform_tiles<Types>& tiles) {
  constexpr int most = 4;  // of a problem
  return tiles.order.count() <= most;
}

template <class Exec, class Types, class Tiles, class Epilogue>
void launch_warpgroups_batched(const Exec& exec, workspace<Exec>& memory, int row,
                               const gemm_problem<Types>& shape, int count, const Tiles& tiles,
                               const Epilogue& epilogue) {
  if constexpr (has_warpgroup_rows<Exec, Types>) {
    using family = warpgroup_kernels<Exec, Types, true>;
    with_kernel<family>(row, form_number(shape), [&](auto known_row, auto form) {
      using C = warpgroup_row<Exec, Types, known_row(), form()>;
      C collective;
      const auto operands = repeated(tiles.batch);
      const index_t maps = operands ? 1 : tiles.batch.size();
      if (maps <= most_mapped_problems && count >= teams_at_once<C>(exec) && can_map(shape)) {
        collective.maps = {memory.of_kernels(exec, std::size_t(maps) * C::map_bytes), operands.has_value()};
        using kernel = batch_maps_kernel<C, Tiles>;
        team_launch<C::mapping_threads>(
            "keramos::gemm_batched_maps", exec, int(maps), kernel::local_bytes,
            kernel{tiles, operands.value_or(repeated_operands()), collective.maps.first});
      }
      if constexpr (!Tiles::mixed)
        if (C::by_one_thread(collective.maps) && draws_tiles(tiles) && count > teams_at_once<C>(exec))
          collective.drawn = memory.counter(exec);
      launch_tiles(exec, count, collective, tiles, epilogue);
    });
  }
}

}  // namespace keramos::detail::simt

// How a GPU does a rectangle of C in block tiles: on which row of its backend's tile table, how k is divided, and which operands
// are packed beforehand.
#pragma once

#include <algorithm>
#include <optional>

#include <keramos/backends/interface.hpp>
#include <keramos/gemm/collective/simt_bytes.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_table.hpp>
#include <keramos/gemm/kernel/pack.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/simt_choice.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

template <class Exec>
struct tile_chooser : row_chooser<Exec> {
  using chooser = row_chooser<Exec>;
  using chooser::key_of;
  using chooser::table;
  using typename chooser::rows;
  using typename chooser::tiles;

  /// How a problem is tiled: the row of the table, its split and its packing.
  template <class Types>
  static void choose_tiles(const Exec& exec, const gemm_problem<Types>& p,
                           const std::optional<tiling::shape>& requested, epilogue_of_product whose,
                           gemm_part& part, bool is_left_over = false) {
    const device_model device = tiles::model(exec);
    choose_row_and_packing(exec, p, requested, whose, is_left_over, device, part);
    // A corner is the end of one order of all tiles, which bands do not have. Without one another row may be better.
    if (part.corner_n > 0 && !is_one_band(p, part))
      choose_row_and_packing(exec, p, requested, whose, true, device, part);
    if (part.split.whole_tiles > 0 && !is_one_band(p, part)) part.split = {};
    if (part.split.parts == 1) part.split = {};
    set_row(part.row, part);
  }

  /// Makes a tile that of a row of the table: also the threads of a team, and the local memory that it asks for.
  static void set_row(int row, gemm_tile& tile) {
    const tile_row& r = table[row];
    tile.row = row, tile.block = r.config.block, tile.stages = r.config.stages, tile.math = r.config.math;
    tile.team_size = r.config.team_warps() * backend::traits<Exec>::warp_size;
    tile.local_bytes = local_bytes(r);
  }
  /// Whether all of C is computed at once, whatever is packed.
  template <class Types>
  static bool is_one_band(const gemm_problem<Types>& p, const gemm_part& part) {
    return part.band_m >= p.m && part.band_n >= p.n;
  }

 private:
  template <class Types>
  static void choose_row_and_packing(const Exec& exec, const gemm_problem<Types>& p,
                                     const std::optional<tiling::shape>& requested, epilogue_of_product whose,
                                     bool is_left_over, const device_model& device, gemm_part& part) {
    part = {};
    part.path = gemm_path::tiled;
    part.band_m = p.m, part.band_n = p.n;
    if (requested)
      take_requested_row(exec, p, *requested, whose, device, part);
    else
      take_fastest_row(exec, p, whose, is_left_over, device, part);
    decide_packing(p, !requested, device, part);
    if constexpr (!chooser::template weighs_packing<Types>)
      divide_or_pack(p, !requested && !rows::of_warpgroups(part.row), device, part);
  }
  template <class Types>
  static void take_requested_row(const Exec& exec, const gemm_problem<Types>& p,
                                 const tiling::shape& requested, epilogue_of_product whose,
                                 const device_model& device, gemm_part& part) {
    part.row = rows::template requested<Types>(exec, tiles::arch(exec), requested, whose);
    const tile_row& r = table[part.row];
    part.split = choose_split(r, p.m, p.n, p.k, device, costs_of(r, device, chooser::memory_of_c(p))).plan;
  }
  /// The row that is fastest by the model: predicted now, or in an earlier call for the same key.
  template <class Types>
  static void take_fastest_row(const Exec& exec, const gemm_problem<Types>& p, epilogue_of_product whose,
                               bool is_left_over, const device_model& device, gemm_part& part) {
    thread_local choice_memory<choice_key, tile_choice> choices;
    choice_key key = key_of(exec, p, whose);
    key.is_left_over = is_left_over;
    const tile_choice choice = choices.get(
        key, [&] { return chooser::template best_row<Types>(exec, p.m, p.n, p.k, key, device).choice; });
    part.row = choice.row, part.split = choice.plan;
    part.pack_a = choice.pack_a, part.pack_b = choice.pack_b;
    part.corner_m = choice.corner_m, part.corner_n = choice.corner_n;
  }
  /// Which operands are packed, and in what bands: for warpgroups what they cannot read, or only slowly; for others what the
  /// choice of the row weighed, or else, if the library chose the row, what pays. Wavefronts take turns with vectors alone, so
  /// the others are packed for a row that was asked for.
  template <class Types>
  static void decide_packing(const gemm_problem<Types>& p, bool library_chooses, const device_model& device,
                             gemm_part& part) {
    const tiling::config& tile = table[part.row].config;
    if (rows::of_warpgroups(part.row)) {
      pack_for_warpgroups(p, rows::warpgroups_read_a(p), rows::warpgroups_read_b(p), tile.block, device,
                          part);
    } else if (tile.ping_pong && !library_chooses) {
      part.pack_a = !operand_layout(p.a).vectors(), part.pack_b = !operand_layout(p.b).vectors();
      pack_in_bands(p, device, part);
    } else if (chooser::template weighs_packing<Types>) {
      pack_in_bands(p, device, part);
    } else if (library_chooses) {
      const operand_layout a(p.a), b(p.b);
      choose_packing(p, a.along_k, a.vectors(), b.along_k, b.vectors(), tile.math == tiling::math_unit::fma,
                     device, part);
    }
  }
  /// Small tiles do not divide all of k where operands are packed. If packing can be left out and C is small, k is divided.
  /// Large tiles do both, since without a division many of them would leave half of a wave empty.
  template <class Types>
  static void divide_or_pack(const gemm_problem<Types>& p, bool can_leave_out_packing,
                             const device_model& device, gemm_part& part) {
    const bool all_divided = part.split.parts > 1 && part.split.whole_tiles == 0;
    if (!all_divided) return;
    if (can_leave_out_packing && std::min(p.m, p.n) < device.least_extent_to_pack_divided)
      part.pack_a = part.pack_b = false;
    const bool does_both = stores_single_sums(table[part.row]) && is_one_band(p, part);
    if ((part.pack_a || part.pack_b) && !does_both) part.split = {};
  }
};

}  // namespace keramos::detail::simt

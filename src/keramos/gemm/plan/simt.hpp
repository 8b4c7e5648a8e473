// How a GPU does a product: on which row of its backend's tile table, and what is done beforehand.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/base/error.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_table.hpp>
#include <keramos/gemm/kernel/gemv.hpp>
#include <keramos/gemm/kernel/pack.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/kernel/warpgroups.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/residues.hpp>
#include <keramos/gemm/plan/simt_choice.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <keramos/gemm/plan/simt_tiles.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

/// Picks a row of the backend's table for a product's types and launches it.
template <class Exec>
struct planner : tile_chooser<Exec> {
  using chooser = tile_chooser<Exec>;
  using chooser::choose_tiles;
  using chooser::is_one_band;
  using chooser::key_of;
  using chooser::set_row;
  using chooser::table;
  using typename chooser::rows;
  using typename chooser::tiles;

  /// Whether Cᵀ = op(B)ᵀ·op(A)ᵀ is computed instead. A C with few rows is transposed to one with few columns, as the narrow
  /// tiles of the table have them. Otherwise the rows of C should be contiguous. But matrix units read A fastest where its
  /// memory runs along k, and B where it runs along n, which for large products counts for more.
  template <class Types>
  static bool prefers_transposed(const Exec& exec, const gemm_problem<Types>& p) {
    if (!Types::transposable) return false;
    const device_model device = tiles::model(exec);
    if (std::min(p.m, p.n) <= device.most_narrow && p.m != p.n) return p.m < p.n;
    if constexpr (backend::mma<Exec>::template has_matrix_unit<
                      typename part_of<typename Types::accumulator>::type>) {
      if (std::min(p.m, p.n) > device.most_extent_to_suit_c) {
        const bool a_along_k = operand_layout(p.a).along_k, b_along_k = operand_layout(p.b).along_k;
        if (a_along_k != b_along_k) return b_along_k;
      }
    }
    return p.c_col_stride != 1 && p.c_row_stride == 1;
  }
  /// The same of a product by itself: its tiles may be of warpgroups, which may read only A along m, and not B along n.
  template <class Types>
  static bool alone_prefers_transposed(const Exec& exec, const gemm_problem<Types>& p,
                                       const std::optional<tiling::shape>& requested,
                                       epilogue_of_product whose) {
    if constexpr (has_warpgroup_rows<Exec, Types> && rows::template warpgroups_read_along_mn<Types>(true) &&
                  !rows::template warpgroups_read_along_mn<Types>(false)) {
      if (rows::template has_warpgroups<Types>(exec, tiles::arch(exec), requested, whose) &&
          std::min(p.m, p.n) > tiles::model(exec).most_extent_to_suit_c) {
        const bool a_along_k = operand_layout(p.a).along_k, b_along_k = operand_layout(p.b).along_k;
        if (a_along_k != b_along_k) return a_along_k;
      }
    }
    return prefers_transposed(exec, p);
  }

  /// Adds to a plan how a problem with m, n, k > 0 is done: C in whole tiles, and strips of what is left if that is
  /// faster.
  template <class Types>
  static void choose(const Exec& exec, gemm_problem<Types> p, const std::optional<tiling::shape>& requested,
                     epilogue_of_product whose, gemm_plan& plan) {
    static_assert(Types::needs_matrix_units || tiled_kernels<Exec, Types, false>::any(),
                  "keramos: the backend's tile table has no row for this product");
    p.place = {};
    if constexpr (emulated_types<Types>)
      if (!requested && residues_planner<Exec, Types>::fastest_way(exec, p) == emulation_way::residues) {
        if (p.c_col_stride != 1 && p.c_row_stride == 1) p.transpose();
        gemm_part& part = plan.parts[plan.size++];
        part.transposed = p.place.transposed;
        part.m = plan.m, part.n = plan.n;
        return residues_planner<Exec, Types>::choose(p, tiles::model(exec), part);
      }
    if (alone_prefers_transposed(exec, p, requested, whose)) p.transpose();
    const bool whole =
        requested || p.n == 1 || Types::splits_elements;  // a strip would split an operand once more
    const main_part main = whole ? main_part{p.m, p.n} : choose_main(exec, p, whose);
    add_part(exec, p.part(0, 0, main.m, main.n), requested, whose, plan);
    const auto add_strip = [&](index_t m0, index_t n0, index_t m, index_t n) {
      add_part(exec, p.part(m0, n0, m, n), requested, whose, plan, true);
    };
    if (main.m < p.m) add_strip(main.m, 0, p.m - main.m, p.n);
    if (main.n < p.n) add_strip(0, main.n, main.m, p.n - main.n);
  }

  /// Whether a product may be emulated here, in the tile that is asked for if one is, and is faster then.
  template <class Types>
  static bool gains_from_emulation(const Exec& exec, const gemm_problem<Types>& p,
                                   const std::optional<tiling::shape>& requested) {
    if (requested)
      return Types::splits_elements && rows::template has_warpgroups<Types>(
                                           exec, tiles::arch(exec), requested, epilogue_of_product::library);
    return residues_planner<Exec, Types>::fastest_way(exec, p) != emulation_way::native;
  }

  /// Sets the team and local memory of a caller's tile.
  template <class Types>
  static void set_team(gemm_tile& tile, bool /*shares_b*/) {
    set_row(tile.row, tile);
  }

  /// Throws if a part that a caller gave cannot be done here.
  template <class Types>
  static void check(const Exec& exec, const gemm_problem<Types>& p, const gemm_part& part, int number,
                    epilogue_of_product whose) {
    const split_plan& split = part.split;
    if (part.path == gemm_path::residues) {
      if constexpr (emulated_types<Types>)
        return residues_planner<Exec, Types>::check(exec, p, part, number);
      else
        refuse_plan(number, "emulates, but its type is " + std::string(Types::name));
    }
    if (part.path == gemm_path::vector) {
      if (emulated_types<Types>) refuse_plan(number, "multiplies by a vector, which needs no tensor cores");
      if (p.n != 1) refuse_plan(number, "multiplies by a vector but has " + std::to_string(p.n) + " columns");
      constexpr int most = gemv_shape::team_size * gemv_shape::rows;
      if (part.block.m < gemv_shape::rows || part.block.m > most || (part.block.m & (part.block.m - 1)) != 0)
        refuse_plan(number, "has blocks of " + std::to_string(part.block.m) + " rows; powers of two from " +
                                std::to_string(gemv_shape::rows) + " to " + std::to_string(most) +
                                " are possible");
      if (split.parts > 1 && split.k_per_part % gemv_shape::k_multiple != 0)
        refuse_plan(number,
                    "divides k into parts that are no multiple of " + std::to_string(gemv_shape::k_multiple));
      return;
    }
    if (part.path != gemm_path::tiled) refuse_plan(number, "is for a kernel of hosts");
    check_row(
        part, whose, "plan_gemm",
        [&](const tile_row& r) {
          return rows::template serves_one<Types>(r, tiles::arch(exec), epilogue_of_product::library);
        },
        [&](const std::string& why) { refuse_plan(number, why); });
    if (part.band_m < 1 || part.band_n < 1) refuse_plan(number, "has bands without rows or columns");
    if (part.corner_n > 0 && !leaves_last_tiles(p, part))
      refuse_plan(number, "leaves out a corner, of " + std::to_string(part.corner_m) + " x " +
                              std::to_string(part.corner_n) +
                              ", that is not its last tiles, or divides k, or has several bands");
    if (rows::of_warpgroups(part.row) &&
        ((!part.pack_a && !rows::warpgroups_read_a(p)) || (!part.pack_b && !rows::warpgroups_read_b(p))))
      refuse_plan(number, "does not pack an operand that its tile cannot read as it lies");
    if (table[part.row].config.ping_pong && !copies_vectors(p, part))
      refuse_plan(number,
                  "does not pack an operand whose rows do not all begin at multiples of 16 bytes, as its "
                  "tile needs them");
    if (split.parts == 1) return;
    const tiling::config& c = table[part.row].config;
    if (!c.splits_k) refuse_plan(number, "divides k, which its tile does not");
    if (split.k_per_part % c.block.k != 0)
      refuse_plan(number,
                  "divides k into parts that are no multiple of its k-tile, " + std::to_string(c.block.k));
    if (split.whole_tiles == 0) return;
    if (!is_one_band(p, part)) refuse_plan(number, "has whole tiles, but is done in several bands");
    const double tiles = block_tiles(p.m, p.n, part.block);
    if (split.whole_tiles >= tiles)
      refuse_plan(number, "has " + std::to_string(split.whole_tiles) + " whole tiles of " +
                              std::to_string(index_t(tiles)) + ", so none to divide");
  }
  /// Whether all rows of operands that a part does not pack begin at multiples of 16 bytes, in each of its bands.
  template <class Types>
  static bool copies_vectors(const gemm_problem<Types>& p, const gemm_part& part) {
    const bool in_bands = part.pack_a || part.pack_b;
    const auto second =  // of which the others are multiples
        p.part(in_bands && part.band_m < p.m ? part.band_m : 0,
               in_bands && part.band_n < p.n ? part.band_n : 0, 1, 1);
    const auto copies = [](bool packs, const auto& x) { return packs || operand_layout(x).vectors(); };
    return copies(part.pack_a, p.a) && copies(part.pack_b, p.b) && copies(part.pack_a, second.a) &&
           copies(part.pack_b, second.b);
  }
  /// Whether a part's corner is the last tiles of its order, and all others are done in one launch, with k undivided.
  template <class Types>
  static bool leaves_last_tiles(const gemm_problem<Types>& p, const gemm_part& part) {
    const corner_of_tiles corner = corner_of(part);
    return part.split.parts == 1 && is_one_band(p, part) && corner.tiles_n < ceil_div(p.n, part.block.n) &&
           corner == corner_of(p.m, p.n, part.block, corner.tiles_n);
  }

  /// Does one part; `p` is its problem, transposed if the part is.
  template <class Types, class Epilogue>
  static void run(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                  const gemm_part& part, const Epilogue& epilogue) {
    if constexpr (emulated_types<Types>) {
      if (part.path == gemm_path::residues)
        return residues_planner<Exec, Types>::run(exec, memory, p, part, epilogue);
    } else {
      if (part.path == gemm_path::vector) return multiply_vector(exec, memory, p, part, epilogue);
    }
    const auto multiply = [&](const gemm_problem<Types>& band, const gemm_problem<Types>& packed,
                              std::size_t in_use) {
      const auto split = split_of(exec, memory, packed, part, in_use);
      if constexpr (has_warpgroup_rows<Exec, Types> && warpgroups_take<Epilogue>)
        if (rows::of_warpgroups(part.row))
          return launch_warpgroups(exec, memory, part.row, packed, split, for_warpgroups(epilogue, band));
      with_kernel<tiled_kernels<Exec, Types, false>>(
          part.row, access_number<Exec>(part.row, packed), [&](auto row, auto access) {
            launch_tiled(exec, row_collective<Exec, Types, row(), access()>(), packed, split, epilogue);
          });
    };
    if (part.pack_a || part.pack_b)
      with_packed(exec, memory, p, part,
                  rows::of_warpgroups(part.row) ? rows::template packed_along<Types> : tiling::direction::mn,
                  split_bytes(p.part(0, 0, std::min(part.band_m, p.m), std::min(part.band_n, p.n)),
                              part.block, part.split),
                  multiply);
    else
      multiply(p, p, 0);
  }

 protected:
  /// Calls `refuse(why)`, which throws, unless a caller's tile is that of a row for which `serves(row)`. `planning` names the
  /// function that plans with an epilogue, for the message.
  template <class Serves, class Refuse>
  static void check_row(const gemm_tile& tile, epilogue_of_product whose, const char* planning,
                        const Serves& serves, const Refuse& refuse) {
    const std::string names = "names row " + std::to_string(tile.row) + " of the tile table, ";
    if (tile.row < 0 || tile.row >= int(std::size(table)) || !serves(table[tile.row]))
      refuse(names + "which is none for this type and device");
    gemm_tile of_row;
    set_row(tile.row, of_row);
    check_tile(tile, of_row, "the tile table", refuse);
    if (rows::of_warpgroups(tile.row) && whose == epilogue_of_product::caller)
      refuse(names + "for which this source has no kernels with the caller's epilogue; " + planning +
             " of keramos/gemm/fused.hpp takes that too, or compile the source by keramos_add_fused_sources");
  }
  /// The same unless a tile is what its row of a table has.
  template <class Refuse>
  static void check_tile(const gemm_tile& tile, const gemm_tile& of_row, const char* which,
                         const Refuse& refuse) {
    const auto text = [](const gemm_tile& t) {
      return to_string(t.block) + " in " + std::to_string(t.stages) + " stages by " +
             std::string(keramos::to_string(t.math));
    };
    if (!(tile.block == of_row.block) || tile.stages != of_row.stages || tile.math != of_row.math)
      refuse("has a block tile of " + text(tile) + ", but row " + std::to_string(tile.row) + " of " + which +
             " has " + text(of_row));
  }

  /// Adds to the plan how p, a rectangle of C, is done. A strip or a corner of others (`is_left_over`) leaves no corner itself:
  /// a plan has room for one.
  template <class Types>
  static void add_part(const Exec& exec, gemm_problem<Types> p, const std::optional<tiling::shape>& requested,
                       epilogue_of_product whose, gemm_plan& plan, bool is_left_over = false) {
    if (alone_prefers_transposed(exec, p, requested, whose)) p.transpose();
    gemm_part& part = plan.parts[plan.size++];
    if (p.n == 1 && !requested && !emulated_types<Types>)
      choose_vector(vector_access_of(p), p.m, p.k, tiles::model(exec), part);
    else
      choose_tiles(exec, p, requested, whose, part, is_left_over);
    part.transposed = p.place.transposed;
    part.m0 = p.place.i0, part.n0 = p.place.j0;
    part.m = part.transposed ? p.n : p.m, part.n = part.transposed ? p.m : p.n;
    if (part.corner_n > 0)
      add_part(exec, p.part(p.m - part.corner_m, p.n - part.corner_n, part.corner_m, part.corner_n), {},
               whose, plan, true);
  }

  /// What the choice of a main part depends on: strips may be transposed.
  struct main_key : choice_key {
    choice_key of_transposed;
    friend bool operator==(const main_key&, const main_key&) = default;
  };
  /// How much of C to compute in whole tiles, apart from the rest.
  template <class Types>
  static main_part choose_main(const Exec& exec, const gemm_problem<Types>& p, epilogue_of_product whose) {
    thread_local choice_memory<main_key, main_part> choices;
    const device_model device = tiles::model(exec);
    if (std::min(p.m, p.n) <= device.most_narrow) return {p.m, p.n};
    if (std::max(p.m, p.n) < device.least_extent_to_cut) return {p.m, p.n};
    gemm_problem<Types> transposed = p;
    transposed.transpose();
    const main_key key{key_of(exec, p, whose), key_of(exec, transposed, whose)};
    return choices.get(key, [&] {
      return choose_main_part(p.m, p.n, p.k, (sizeof(typename Types::a) + sizeof(typename Types::b)) / 2,
                              device, [&](index_t m, index_t n, bool is_transposed) {
                                return chooser::template best_row<Types>(
                                           exec, m, n, p.k, is_transposed ? key.of_transposed : key, device)
                                    .time;
                              });
    });
  }
};

}  // namespace keramos::detail::simt

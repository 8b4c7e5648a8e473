// Which row of a GPU backend's tile table does a product in the least time, as the model predicts it.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>

#include <keramos/backends/interface.hpp>
#include <keramos/base/error.hpp>
#include <keramos/gemm/collective/simt_rows.hpp>
#include <keramos/gemm/collective/simt_table.hpp>
#include <keramos/gemm/kernel/pack.hpp>
#include <keramos/gemm/kernel/warpgroups.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/simt_model.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

template <class Exec>
struct row_chooser {
  using tiles = backend::tiles<Exec>;
  using rows = table_rows<Exec>;
  static constexpr const auto& table = tiles::table;

  /// True for short types on matrix units: shifted copies let tiles read unaligned rows, so the model compares packing with
  /// reading in place. For others device_model says from which extents on packing pays.
  template <class Types>
  static constexpr bool weighs_packing = [] {
    for (const tile_row& r : table)
      if (r.types == Types::operands && r.config.math == tiling::math_unit::fma) return false;
    return backend::staging<Exec>::template shifts<typename Types::a> &&
           backend::staging<Exec>::template shifts<typename Types::b>;
  }();

  /// Whether the model asks how a row of these types writes C.
  template <class Types>
  static constexpr bool counts_c = weighs_packing<Types> ||
                                   std::any_of(std::begin(table), std::end(table), [](const tile_row& r) {
                                     return r.types == Types::operands && r.start > 0;
                                   });

  /// Whether wavefronts take turns in some row for these types: then it counts how operands are aligned.
  template <class Types>
  static constexpr bool has_ping_pong = std::any_of(std::begin(table), std::end(table),
                                                    [](const tile_row& r) {
                                                      return r.types == Types::operands && r.config.ping_pong;
                                                    });

  /// What the choice of a row for a problem depends on.
  template <class Types>
  static choice_key key_of(const Exec& exec, const gemm_problem<Types>& p, epilogue_of_product whose) {
    const device_model device = tiles::model(exec);
    constexpr bool ask = has_warpgroup_rows<Exec, Types>,
                   by_alignment = weighs_packing<Types> || has_ping_pong<Types>;
    return {p.m,
            p.n,
            p.k,
            tiles::arch(exec),
            backend::traits<Exec>::local_memory_limit(exec, backend::traits<Exec>::max_team_size),
            device.units,
            device.unit_bytes,
            device.cache_size,
            whose,
            ask && !rows::warpgroups_read_a(p),
            ask && !rows::warpgroups_read_b(p),
            by_alignment ? operand_layout(p.a).alignment : 16,
            by_alignment ? operand_layout(p.b).alignment : 16,
            counts_c<Types> ? memory_of_c(p) : c_memory::vectors};
  }
  template <class Types>
  static c_memory memory_of_c(const gemm_problem<Types>& p) {
    if (p.c_col_stride != 1) return c_memory::columns;
    return can_copy_vectors(p.c, 1, p.c_row_stride) ? c_memory::vectors : c_memory::rows;
  }

  /// A row of the table, and how it has its operands.
  struct way {
    int row;
    tile_costs costs;
    double copying = 0;  ///< time to copy operands beforehand
    bool pack_a = false, pack_b = false, may_divide_all = true;
  };
  /// Calls `f(way)` for each row that serves, and each way to have its operands.
  template <class Types, class F>
  static void for_each_way(const Exec& exec, index_t m, index_t n, index_t k, const choice_key& key,
                           const device_model& device, const F& f) {
    const int alignment = std::min(key.alignment_a, key.alignment_b);
    const index_t to_copy = (key.copies_a ? m * k : 0) + (key.copies_b ? n * k : 0);
    for (int i = 0; i < int(std::size(table)); ++i) {
      const tile_row& r = table[i];
      if (!rows::template serves_one<Types>(r, key.arch, key.whose) || !rows::fits(exec, r)) continue;
      const bool of_warpgroups = rows::of_warpgroups(i), cannot_copy = r.config.ping_pong && alignment < 16;
      if constexpr (weighs_packing<Types>) {
        const auto costs = [&](int bytes) { return costs_of_short(r, device, bytes, key.c); };
        if (!of_warpgroups && !cannot_copy) f(way{i, costs(alignment)});
        const bool pack_a = of_warpgroups ? key.copies_a : key.alignment_a < 16,
                   pack_b = of_warpgroups ? key.copies_b : key.alignment_b < 16;
        const double elements = double(pack_a ? m * k : 0) + double(pack_b ? n * k : 0);
        if (of_warpgroups && elements == 0)
          f(way{i, costs(16)});
        else if (elements > 0 && can_pack<Types>(k, device))
          f(way{i, costs(16), short_packing_time(elements, device), pack_a, pack_b});
      } else {
        // Here the packing of other rows is decided when one is chosen (choose_packing), and takes the same time for all.
        if (cannot_copy && most_worth_packing<Types>(m, n, k, false, device) == 0) continue;
        const bool copies = of_warpgroups && to_copy > 0;
        if (copies && !can_pack<Types>(k, device)) continue;
        const double copying = copies ? packing_time(to_copy, sizeof(typename Types::a), device) : 0;
        f(way{i, costs_of(r, device, key.c), copying, false, false, !copies});
      }
    }
  }

  /// The fastest row for m x n elements of C, and its predicted time. Where the model knows least (stores_sums_in_waves) a plan has
  /// to gain more than others, corners included.
  template <class Types>
  static timed_choice best_row(const Exec& exec, index_t m, index_t n, index_t k, const choice_key& key,
                               const device_model& device) {
    timed_choice best, uncertain;
    for_each_way<Types>(exec, m, n, k, key, device, [&](const way& w) {
      const tile_row& r = table[w.row];
      split_choice split = choose_split(r, m, n, k, device, w.costs);
      if (!w.may_divide_all && split.plan.whole_tiles == 0) {
        split.plan = plan_parts(r, k, 1, device);
        split.time = predicted_time(r, m, n, k, split.plan, device, w.costs);
      }
      timed_choice& kind = stores_sums_in_waves(r, m, n, split.plan, device) ? uncertain : best;
      if (kind.choice.row < 0 || split.time + w.copying < kind.time)
        kind = {{w.row, split.plan, w.pack_a, w.pack_b}, split.time + w.copying};
    });
    if (best.choice.row < 0)
      throw launch_error("keramos::gemm: of " + std::string(Types::name) +
                         " no tile of the tile table serves this device and fits "
                         "its local memory; add one to the backend's tiles.hpp");
    if (!key.is_left_over) best = with_corner<Types>(exec, m, n, k, key, device, best);
    return uncertain.choice.row >= 0 && uncertain.time < device.gain_enough * best.time ? uncertain : best;
  }
  /// That, or what takes less time: a row that leaves its last tiles to another, which may divide them.
  template <class Types>
  static timed_choice with_corner(const Exec& exec, index_t m, index_t n, index_t k, const choice_key& key,
                                  const device_model& device, const timed_choice& without) {
    timed_choice best{without.choice, device.gain_enough * without.time};
    choice_key key_of_corner = key;
    key_of_corner.is_left_over = true;
    for_each_way<Types>(exec, m, n, k, key, device, [&](const way& w) {
      const tile_row& r = table[w.row];
      const split_plan undivided = plan_parts(r, k, 1, device);
      for_each_corner(r, m, n, device, [&](const corner_of_tiles& corner) {
        double time = w.copying + device.launch_time / 2 +
                      predicted_time(r, m, n, k, undivided, device, w.costs, corner.tiles());
        if (time >= best.time) return;
        time += device.corner_time * best_row<Types>(exec, corner.m, corner.n, k, key_of_corner, device).time;
        if (time < best.time) best = {{w.row, undivided, w.pack_a, w.pack_b, corner.m, corner.n}, time};
      });
    });
    return best.choice.corner_n > 0 ? best : without;
  }
};

}  // namespace keramos::detail::simt

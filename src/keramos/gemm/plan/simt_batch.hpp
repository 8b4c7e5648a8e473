// How a GPU does a batch of products, or a list, in one launch: on which row of the backend's tile table, or small ones on
// which of small_batch.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include <keramos/backends/interface.hpp>
#include <keramos/base/error.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/kernel/tiled_batch.hpp>
#include <keramos/gemm/kernel/warpgroups.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/simt.hpp>
#include <keramos/gemm/plan/small_batch.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

/// What choices for batches of one shape depend on.
struct batch_key : choice_key {
  index_t count = 0;
  friend bool operator==(const batch_key&, const batch_key&) = default;
};

template <class Exec>
struct batch_planner : planner<Exec> {
  using typename planner<Exec>::tiles;
  using typename planner<Exec>::rows;
  using planner<Exec>::table;

  /// Chooses how a batch of one shape is done in one launch; `shape` stands for its problems (representative_of).
  template <class Types>
  static void choose(const Exec& exec, const uniform_batch<Types>& batch, gemm_problem<Types> shape,
                     epilogue_of_product whose, gemm_batch_choice& choice) {
    choice.transposed = prefers_transposed(exec, batch, shape);
    if (choice.transposed) shape.transpose();
    if constexpr (has_small_rows<Exec, Types>) {
      const small_access access = access_of(batch, shape);
      if ((access.interleaved || std::max(shape.m, shape.n) <= largest_small) &&
          choose_small(exec, shape, access, choice))
        return;
    }
    thread_local choice_memory<batch_key, int> choices;
    const batch_key key{planner<Exec>::key_of(exec, shape, whose), batch.count};
    choice.way = batch_way::tiled;
    planner<Exec>::set_row(choices.get(key,
                                       [&] {
                                         return best_row<Types>(exec, key, [&](const tiling::shape& block) {
                                           return batch.count * count_tiles(shape, block);
                                         });
                                       }),
                           choice);
  }
  /// The same of a list, whose problems have rows of C along memory. To compare all extents with those of a choice that is
  /// remembered would take as long as to choose.
  template <class Types>
  static void choose(const Exec& exec, const std::vector<grouped_problem<Types>>& all,
                     const gemm_problem<Types>& shape, epilogue_of_product whose, gemm_batch_choice& choice) {
    if constexpr (has_small_rows<Exec, Types>)
      if (is_small_group(all) && choose_small(exec, shape, access_of(all, shape), choice)) return;
    choice.way = batch_way::tiled;
    planner<Exec>::set_row(
        best_row<Types>(exec, planner<Exec>::key_of(exec, shape, whose),
                        [&](const tiling::shape& block) { return count_tiles(all, block); }),
        choice);
  }

  /// Throws if a caller's plan for a batch or list in one launch cannot be followed here. `shape` stands for its problems,
  /// transposed if the plan is.
  template <class Types, class Batch>
  static void check(const Exec& exec, const Batch& batch, const gemm_problem<Types>& shape,
                    const gemm_batch_plan& plan, epilogue_of_product whose) {
    if (plan.way == batch_way::small) return check_small(exec, batch, shape, plan);
    planner<Exec>::check_row(
        plan, whose, "plan_gemm_batched",
        [&](const tile_row& r) {
          return rows::template supports<Types>(r, tiles::arch(exec), epilogue_of_product::library) &&
                 rows::serves_batches(r);
        },
        refuse_batch_plan);
    if (rows::of_warpgroups(plan.row) && !(rows::warpgroups_read_a(shape) && rows::warpgroups_read_b(shape)))
      refuse_batch_plan("has a tile that cannot read the operands as they lie");
  }

  /// Whether a problem of a list is done with others, in one launch.
  template <class Types>
  static bool is_together(const gemm_problem<Types>&, const gemm_batch_choice& choice) {
    return choice.way != batch_way::one_by_one;
  }

  /// A batch or list whose problems share teams.
  template <class Types, class Batch, class Epilogue>
  static void run_small(const Exec& exec, const Batch& batch, const gemm_problem<Types>& shape,
                        const gemm_batch_choice& choice, const Epilogue& epilogue) {
    if constexpr (has_small_rows<Exec, Types>)
      run_small_batch(exec, choice.row, access_of(batch, shape), batch, shape, epilogue);
  }

  /// A batch or list in `count` block tiles.
  template <class Types, class Tiles, class Epilogue>
  static void run_tiles(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& shape,
                        const gemm_batch_choice& choice, int count, const Tiles& tiles_of_batch,
                        const Epilogue& epilogue) {
    if constexpr (has_warpgroup_rows<Exec, Types> && warpgroups_take<Epilogue>)
      if (rows::of_warpgroups(choice.row))
        return launch_warpgroups_batched(exec, memory, choice.row, shape, count, tiles_of_batch, epilogue);
    with_kernel<tiled_kernels<Exec, Types, true>>(
        choice.row, access_number<Exec>(choice.row, shape), [&](auto row, auto access) {
          launch_tiles(exec, count, row_collective<Exec, Types, row(), access()>(), tiles_of_batch, epilogue);
        });
  }

 private:
  /// Small halves are not tiled: however narrow, only the rows of C count, which are written in words.
  template <class Types>
  static bool prefers_transposed(const Exec& exec, const uniform_batch<Types>& batch,
                                 const gemm_problem<Types>& shape) {
    if constexpr (has_small_rows<Exec, Types> && sums_halves<Types>)
      if (std::max(shape.m, shape.n) <= largest_small && !is_interleaved(batch))
        return shape.c_col_stride != 1 && shape.c_row_stride == 1;
    return planner<Exec>::prefers_transposed(exec, shape);
  }

  /// Whether there is a row for small problems on this device.
  template <class Types>
  static bool choose_small(const Exec& exec, const gemm_problem<Types>& shape, const small_access& access,
                           gemm_batch_choice& choice) {
    const int row = choose_small_row<Exec, Types>(exec, std::max(shape.m, shape.n), access);
    if (row < 0) return false;
    choice.way = batch_way::small;
    set_small_row<Types>(row, choice);
    return true;
  }

  template <class Types, class Batch>
  static void check_small(const Exec& exec, const Batch& batch, const gemm_problem<Types>& shape,
                          const gemm_batch_plan& plan) {
    if constexpr (!has_small_rows<Exec, Types>) {
      refuse_batch_plan("lets problems share teams, which is not done for elements of this type");
    } else {
      const small_access access = access_of(batch, shape);
      const index_t extent = std::max(shape.m, shape.n);
      if (extent > largest_small && !access.interleaved)
        refuse_batch_plan("lets problems share teams, which are up to " + std::to_string(largest_small) +
                          " x " + std::to_string(largest_small));
      if (plan.row < 0 || plan.row >= small_rows || !small_row_works<Exec, Types>(exec, plan.row, access) ||
          small_row(plan.row).size < std::min<index_t>(extent, largest_small))
        refuse_batch_plan("names row " + std::to_string(plan.row) +
                          " of the tables for small problems, which is none for their type, extents and "
                          "strides on this device");
      gemm_batch_choice of_row;
      set_small_row<Types>(plan.row, of_row);
      planner<Exec>::check_tile(plan, of_row, "the tables for small problems", refuse_batch_plan);
    }
  }

  /// The fastest row for `tiles_in(block)` block tiles.
  template <class Types, class TilesIn>
  static int best_row(const Exec& exec, const choice_key& key, const TilesIn& tiles_in) {
    const device_model device = tiles::model(exec);
    const index_t k = std::max<index_t>(key.k, 1);
    const bool warpgroups_can = !key.copies_a && !key.copies_b;
    int best = -1;
    double best_time = 0;
    for (int i = 0; i < int(std::size(table)); ++i) {
      const tile_row& r = table[i];
      const tiling::shape& block = r.config.block;
      if (!rows::template supports<Types>(r, key.arch, key.whose) || !rows::serves_batches(r) ||
          !rows::fits(exec, r) || (rows::of_warpgroups(i) && !warpgroups_can))
        continue;
      const index_t count = tiles_in(block);
      const auto time_with = [&](const tile_costs& costs) {
        return predicted_time(r, count * block.m, block.n, k, plan_parts(r, k, 1, device), device, costs);
      };
      double time = 0;
      if constexpr (planner<Exec>::template weighs_packing<Types>)
        time = time_with(costs_of_short(r, device, std::min(key.alignment_a, key.alignment_b), key.c));
      else
        time = time_with(costs_of(r, device)) + double(count) / device.units / resident_teams(device, r) *
                                                    device.tile_start_time / resident_teams(device, r);
      if (best < 0 || time < best_time) best = i, best_time = time;
    }
    if (best < 0)
      throw launch_error("keramos::gemm_batched: of " + std::string(Types::name) +
                         " no tile of the tile table serves this device and "
                         "fits its local memory; add one to the backend's tiles.hpp");
    return best;
  }
};

}  // namespace keramos::detail::simt

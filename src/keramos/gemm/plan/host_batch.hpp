// How a host does a batch of products, or a list: each on one thread, in tiles, or one after the other.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <keramos/backends/host/team.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/collective/host_panels.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/kernel/host_small_batch.hpp>
#include <keramos/gemm/kernel/tiled_batch.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/host.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::host {

template <class Exec>
struct batch_planner : planner<Exec> {
  /// Chooses how a batch of one shape is done that is no one product; `p` stands for its problems.
  template <class Types>
  static void choose(const Exec& exec, const uniform_batch<Types>& batch, const gemm_problem<Types>& p,
                     epilogue_of_product, gemm_batch_choice& choice) {
    choice.transposed = planner<Exec>::prefers_transposed(exec, p);
    if (choice.transposed) {
      gemm_problem<Types> transposed = p;
      transposed.transpose();
      choose_way(exec, transposed, batch.count, choice);
    } else {
      choose_way(exec, p, batch.count, choice);
    }
  }
  /// The same of a list, whose problems have rows of C along memory: small ones at the same time, each on one thread; of the
  /// others, each on all.
  template <class Types>
  static void choose(const Exec&, const std::vector<grouped_problem<Types>>& all, const gemm_problem<Types>&,
                     epilogue_of_product, gemm_batch_choice& choice) {
    const bool any_small =
        std::any_of(all.begin(), all.end(), [](const auto& p) { return p.k > 0 && is_small(p); });
    choice.way = any_small ? batch_way::small : batch_way::one_by_one;
  }

  /// Throws if a caller's plan for a batch in one launch cannot be followed with these strides. `p` stands for its problems,
  /// transposed if the plan is.
  template <class Types>
  static void check(const Exec&, const uniform_batch<Types>&, const gemm_problem<Types>& p,
                    const gemm_batch_plan& plan, epilogue_of_product) {
    if (plan.way == batch_way::small && !is_small(p))
      refuse_batch_plan(
          "gives each problem to one thread, which does not pack; these are too large for that" +
          std::string(Types::uniform ? "" : ", or elements and sums of different types"));
  }
  template <class Types>
  static void check(const Exec&, const std::vector<grouped_problem<Types>>&, const gemm_problem<Types>&,
                    const gemm_batch_plan& plan, epilogue_of_product) {
    if (plan.way == batch_way::tiled)
      refuse_batch_plan("does a list in tiles of one launch, which hosts do not");
  }

  /// Whether a problem of a list is done with others, in one launch.
  template <class Types>
  static bool is_together(const gemm_problem<Types>& p, const gemm_batch_choice& choice) {
    return choice.way == batch_way::small && p.k > 0 && is_small(p);
  }

  /// A batch or list of small problems.
  template <class Types, class Batch, class Epilogue>
  static void run_small(const Exec& exec, const Batch& batch, const gemm_problem<Types>&,
                        const gemm_batch_choice&, const Epilogue& epilogue) {
    if constexpr (Types::uniform) run_small_batch<Types>(exec, batch, epilogue);
  }

  /// A batch in `count` tiles, for one thread each.
  template <class Types, class Tiles, class Epilogue>
  static void run_tiles(const Exec& exec, workspace<Exec>&, const gemm_problem<Types>&,
                        const gemm_batch_choice& choice, int count, const Tiles& tiles,
                        const Epilogue& epilogue) {
    launch_tiles(exec, count, collective<Types>(kernels<Types>(), choice.block), tiles, epilogue);
  }

 private:
  template <class Types>
  static void choose_way(const Exec& exec, const gemm_problem<Types>& p, index_t count,
                         gemm_batch_choice& choice) {
    if (is_small(p)) {
      choice.way = batch_way::small;
    } else if (fills_threads(exec, p, count)) {
      choice.way = batch_way::one_by_one, choice.transposed = false;
    } else {
      choice.way = batch_way::tiled, choice.block = block_of_batch(p);
      planner<Exec>::template set_team<Types>(choice, false);
    }
  }

  /// Whether a thread multiplies a problem of a batch best without packing.
  template <class Types>
  static bool is_small(const gemm_problem<Types>& p) {
    return Types::uniform && volume_within(p, model::small_volume);
  }
  /// Whether one problem of a batch after the other keeps all threads busy, and as well or better than
  /// many at the same time, of which each packs for itself.
  template <class Types>
  static bool fills_threads(const Exec& exec, const gemm_problem<Types>& p, index_t count) {
    return count * count_tiles(p, block_of_batch(p)) < backend::host::threads_for(exec) ||
           double(p.m) * double(p.n) * double(p.k) > model::shared_volume;
  }
  /// A tile for one thread that packs both operands: no larger than the problem, and not much uneven.
  template <class Types>
  static tiling::shape block_of_batch(const gemm_problem<Types>& p) {
    const kernel_table<Types>& table = kernels<Types>();
    const auto even = [](index_t extent, int most, int multiple) {
      const index_t tiles = ceil_div(extent, most);
      return int(ceil_div(ceil_div(extent, tiles), multiple) * multiple);
    };
    return {even(p.m, table.mc, table.mr), even(p.n, table.nc, table.nr),
            int(ceil_div(p.k, ceil_div(p.k, table.kc)))};
  }
};

}  // namespace keramos::detail::host

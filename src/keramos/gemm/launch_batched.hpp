// From a checked batch to a plan (plan/batch.hpp), and from that to launches. Compiled into the library; include it to
// instantiate gemm_batched for other types, whose gemm has to be instantiated too (launch.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/kernel/tiled_batch.hpp>
#include <keramos/gemm/launch.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/batch.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// C[b] = epilogue(0, C[b]): what is left of a batch when nothing is to be multiplied.
template <class Batch, class Epilogue>
struct batched_scale_kernel {
  Batch batch;
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<3> at) const {
    const auto& p = batch[at[0]];
    if (Batch::mixed && (at[1] >= p.m || at[2] >= p.n)) return;
    auto& c = p.c[at[1] * p.c_row_stride + at[2] * p.c_col_stride];
    write_element(epilogue, p.place, typename Batch::types::accumulator(0), c, at[1], at[2]);
  }
};

/// Options for one of a plan's products, or for any if there is no plan.
inline gemm_options options_of_product(const gemm_batch_plan* given, std::size_t number) {
  gemm_options options;
  if (given) options.plan = given->products[number];
  return options;
}

/// The one problem that planners look at in place of the batch.
template <bool IsHost, class Types>
decltype(auto) stands_for(const uniform_batch<Types>& batch,
                          [[maybe_unused]] const batch_alignment& alignment) {
  if constexpr (IsHost)
    return (batch.shape);
  else
    return representative_of(batch, alignment);
}

/// Does a batch as `given` says, or if there is no such plan as the planner chooses; then the batch is not one product. Not
/// inlined, like run_plan: one product may be tiny.
template <class Exec, class Types, class Epilogue>
[[gnu::noinline]] void run_batch(const Exec& exec, workspace<Exec>& memory, uniform_batch<Types>& batch,
                                 const batch_alignment& alignment, const Epilogue& epilogue,
                                 const gemm_batch_plan* given) {
  using planner = batch_planner<Exec>;
  constexpr auto whose = whose_epilogue<Epilogue>;
  const gemm_problem<Types>& p = batch.shape;
  if (given) check_plan_of(exec, batch, alignment, *given, whose);
  if (given && given->way == batch_way::one_product && become_one(batch, whose))
    return run_gemm(exec, memory, p, epilogue, options_of_product(given, 0));

  // Hosts choose by extents alone, and need no copy.
  constexpr bool is_host = backend::traits<Exec>::is_host;
  std::conditional_t<is_host, const gemm_problem<Types>&, gemm_problem<Types>> shape =
      stands_for<is_host>(batch, alignment);
  gemm_batch_choice chosen;
  if (!given) planner::choose(exec, batch, shape, whose, chosen);
  const gemm_batch_choice& choice = given ? static_cast<const gemm_batch_choice&>(*given) : chosen;
  if (choice.way == batch_way::one_by_one) {
    const gemm_options options = options_of_product(given, 0);
    for (index_t b = 0; b < batch.count; ++b) run_gemm(exec, memory, batch[b], epilogue, options);
    return;
  }
  if (choice.transposed) {
    batch.transpose();
    if constexpr (!is_host) shape.transpose();
  }
  if (choice.way == batch_way::small) return planner::run_small(exec, batch, shape, choice, epilogue);
  const tiling::shape& block = choice.block;
  planner::run_tiles(exec, memory, shape, choice, league_of(batch.count * count_tiles(p, block)),
                     uniform_tiles<Types>(batch, block), epilogue);
}

/// Does a batch as `given` says, or as the planner chooses.
template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory, uniform_batch<Types> batch,
                           const batch_alignment& alignment, const Epilogue& epilogue,
                           const gemm_batch_plan* given) {
  constexpr auto whose = whose_epilogue<Epilogue>;
  const gemm_problem<Types>& p = batch.shape;
  if (batch.count == 0 || p.m == 0 || p.n == 0) return;
  if (p.k == 0 || needs_no_terms(epilogue)) {
    if (keeps_c_without_terms(epilogue)) return;
    launch("keramos::gemm_batched_scale", [&] {
      range_for("keramos::gemm_batched_scale", exec, range{batch.count, p.m, p.n},
                batched_scale_kernel<uniform_batch<Types>, Epilogue>{batch, without_terms(epilogue)});
    });
    return;
  }
  if (!given && become_one(batch, whose)) return run_gemm(exec, memory, batch.shape, epilogue, {});
  run_batch(exec, memory, batch, alignment, epilogue, given);
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory,
                           const std::vector<gemm_problem<Types>>& problems, const Epilogue& epilogue,
                           const gemm_batch_plan* given) {
  using planner = batch_planner<Exec>;
  constexpr auto whose = whose_epilogue<Epilogue>;
  constexpr bool is_host = backend::traits<Exec>::is_host;
  auto all = problems_to_do(exec, problems, !needs_no_terms(epilogue), keeps_c_without_terms(epilogue));
  if (all.empty()) return;
  const gemm_problem<Types> shape = is_host ? gemm_problem<Types>(all.front()) : representative_of(all);
  if (given && !have_terms(all)) given = nullptr;
  gemm_batch_choice chosen;
  if (given)
    check_plan_of(exec, problems, all, shape, *given, whose);
  else
    planner::choose(exec, all, shape, whose, chosen);
  const gemm_batch_choice& choice = given ? static_cast<const gemm_batch_choice&>(*given) : chosen;

  auto alone = choice.way == batch_way::one_by_one ? all.begin() : all.end();
  if constexpr (is_host)
    alone = std::stable_partition(all.begin(), all.end(),
                                  [&](const auto& p) { return planner::is_together(p, choice); });
  if (alone != all.begin()) {
    if constexpr (is_host) {
      planner::run_small(exec, grouped_batch<Types>{all.data(), alone - all.begin()}, shape, choice,
                         epilogue);
    } else {
      const auto batch = [&] {
        return grouped_batch<Types>{memory.uploads.upload(exec, all, "keramos::gemm_batched"),
                                    index_t(all.size())};
      };
      if (choice.way == batch_way::small) return planner::run_small(exec, batch(), shape, choice, epilogue);
      const int league = league_of(count_tiles(all, choice.block));
      int first = 0;
      for (auto& p : all) {
        p.first_tile = first;
        p.tiles_m = int(ceil_div(p.m, choice.block.m)), p.tiles_n = int(ceil_div(p.n, choice.block.n));
        first += p.tiles_m * p.tiles_n;
      }
      planner::run_tiles(exec, memory, shape, choice, league, grouped_tiles<Types>{batch()}, epilogue);
    }
  }
  std::size_t number = 0;
  for (auto p = alone; p != all.end(); ++p)
    if (given && p->k > 0)
      run_gemm(exec, memory, as_listed(*p, problems), epilogue, options_of_product(given, number++));
    else
      run_gemm(exec, memory, *p, epilogue, {});
}

}  // namespace keramos::detail

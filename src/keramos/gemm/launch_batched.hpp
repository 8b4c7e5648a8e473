// From a checked batch to launches. Compiled into the library; include it to instantiate gemm_batched for
// other types, whose gemm has to be instantiated too (launch.hpp).
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/kernel/tiled_batch.hpp>
#include <keramos/gemm/plan/planner.hpp>
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

template <class Types>
index_t count_tiles(const gemm_problem<Types>& p, const tiling::shape& block) {
  return ceil_div(p.m, block.m) * ceil_div(p.n, block.n);
}

/// Makes one product of a batch that shares A or B and stacks the rest: rows of C follow each other from
/// matrix to matrix as they do inside one, or matrix by matrix row as in a batch whose index runs fastest.
template <class Types>
bool stack(uniform_batch<Types>& batch) {
  gemm_problem<Types>& p = batch.shape;
  if (batch.a.addresses || batch.b.addresses || batch.c.addresses) return false;
  const auto stack_along = [&](index_t& extent, index_t& stride, index_t step, index_t& c_stride) {
    if (step == extent * stride && batch.c.stride == extent * c_stride) {
      extent *= batch.count;
    } else if (stride == batch.count * step && c_stride == batch.count * batch.c.stride) {
      extent *= batch.count;
      stride = step, c_stride = batch.c.stride;
    } else {
      return false;
    }
    batch.count = 1;
    return true;
  };
  if (batch.b.stride == 0 && stack_along(p.m, p.a.stride_mn, batch.a.stride, p.c_row_stride)) return true;
  return batch.a.stride == 0 && stack_along(p.n, p.b.stride_mn, batch.b.stride, p.c_col_stride);
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory, uniform_batch<Types> batch,
                           batch_alignment alignment, const Epilogue& epilogue) {
  using planner = detail::planner<Exec>;
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
  // Rows of stacked problems are not those of the caller's.
  if (!batch.c.addresses && !batch.a.addresses && !batch.b.addresses &&
      (batch.count == 1 || (is_linear<Epilogue> && stack(batch))))
    return run_gemm(exec, memory, batch.shape, epilogue, {});
  if (planner::prefers_transposed(p)) batch.transpose(), std::swap(alignment.a, alignment.b);
  const representative_problem<Types> shape(batch, alignment);
  if (planner::run_small(exec, batch, shape.get(), epilogue)) return;
  if constexpr (backend::traits<Exec>::is_host) {
    if (planner::fills_threads(exec, p, batch.count)) {
      for (index_t b = 0; b < batch.count; ++b) run_gemm(exec, memory, batch[b], epilogue, {});
      return;
    }
  }
  planner::run_tiles(
      exec, shape.get(), epilogue,
      [&](const tiling::shape& block) { return batch.count * count_tiles(p, block); },
      [&](const tiling::shape& block) {
        const tile_order order{int(ceil_div(p.m, block.m)), int(ceil_div(p.n, block.n)), 8};
        return uniform_tiles<Types>{batch, order};
      });
}

/// What remains to be done of a list: no empty problems, each with rows of C along memory.
template <class Exec, class Types, class Epilogue>
std::vector<grouped_problem<Types>> problems_to_do(const std::vector<gemm_problem<Types>>& problems,
                                                   const Epilogue& epilogue) {
  std::vector<grouped_problem<Types>> all;
  all.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    gemm_problem<Types> p = problems[i];
    p.place.batch = index_t(i);
    if (needs_no_terms(epilogue)) p.k = 0;
    if (p.m == 0 || p.n == 0 || (p.k == 0 && keeps_c_without_terms(epilogue))) continue;
    // One kernel does them all: which kind of elements (tiling::reading) A has must not change from one to the next.
    if (p.a.kind() == p.b.kind() && detail::planner<Exec>::prefers_transposed(p)) p.transpose();
    all.push_back({p});
  }
  return all;
}

template <class Exec, class Types, class Epilogue>
void dispatch_gemm_batched(const Exec& exec, workspace<Exec>& memory,
                           const std::vector<gemm_problem<Types>>& problems, const Epilogue& epilogue) {
  using planner = detail::planner<Exec>;
  auto all = problems_to_do<Exec>(problems, epilogue);
  if (all.empty()) return;
  const representative_problem<Types> shape(all);
  if constexpr (backend::traits<Exec>::is_host) {
    // Small ones at the same time, each on one thread; of the others, each on all.
    const auto large = std::stable_partition(all.begin(), all.end(),
                                             [](const auto& p) { return p.k > 0 && planner::is_small(p); });
    const grouped_batch<Types> small{all.data(), large - all.begin()};
    if (small.count > 0) planner::run_small(exec, small, shape.get(), epilogue);
    for (auto p = large; p != all.end(); ++p) run_gemm(exec, memory, *p, epilogue, {});
  } else {
    const auto batch = [&] {
      return grouped_batch<Types>{memory.uploads.upload(exec, all), index_t(all.size())};
    };
    if (planner::is_small(all)) {
      planner::run_small(exec, batch(), shape.get(), epilogue);
      return;
    }
    const auto tiles_of_all = [&](const tiling::shape& block) {
      index_t tiles = 0;
      for (const auto& p : all) tiles += count_tiles(p, block);
      return tiles;
    };
    planner::run_tiles(exec, shape.get(), epilogue, tiles_of_all, [&](const tiling::shape& block) {
      int first = 0;
      for (auto& p : all) {
        p.first_tile = first;
        p.tiles_m = int(ceil_div(p.m, block.m)), p.tiles_n = int(ceil_div(p.n, block.n));
        first += p.tiles_m * p.tiles_n;
      }
      return grouped_tiles<Types>{batch()};
    });
  }
}

}  // namespace keramos::detail

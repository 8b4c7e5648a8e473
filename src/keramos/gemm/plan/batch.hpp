// How a batch of products, or a list, is done, as a value: chosen, or checked if a caller gives it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/batch.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/host_batch.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/plan/product.hpp>
#include <keramos/gemm/plan/simt_batch.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

template <class Exec>
using batch_planner =
    std::conditional_t<backend::traits<Exec>::is_host, host::batch_planner<Exec>, simt::batch_planner<Exec>>;

/// Makes one product of a batch whose problems share A or B and can be stacked to one with more rows or columns; true if so.
/// They can where rows are at equal distances throughout: matrix after matrix, or the same row of all matrices before the next.
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

/// Makes one product of a batch if it has one problem, or if its problems can be stacked; true if so. With a caller's epilogue
/// nothing is stacked, since it is told rows and columns of each problem.
template <class Types>
bool become_one(uniform_batch<Types>& batch, epilogue_of_product whose) {
  return !batch.c.addresses && !batch.a.addresses && !batch.b.addresses &&
         (batch.count == 1 || (whose == epilogue_of_product::library && stack(batch)));
}

/// What a plan of such a batch, or list, begins with.
template <class Exec, class Types>
gemm_batch_plan description_of(const uniform_batch<Types>& batch) {
  gemm_batch_plan plan;
  plan.count = batch.count, plan.m = batch.shape.m, plan.n = batch.shape.n, plan.k = batch.shape.k;
  if (is_turned(batch.shape)) std::swap(plan.m, plan.n);
  plan.backend = backend::traits<Exec>::name, plan.type = Types::name;
  return plan;
}
template <class Exec, class Types>
gemm_batch_plan description_of(const std::vector<gemm_problem<Types>>& problems) {
  gemm_batch_plan plan;
  plan.count = index_t(problems.size()), plan.is_list = true;
  for (const auto& p : problems) {
    if (p.m == 0 || p.n == 0 || p.k == 0) continue;
    plan.m = std::max(plan.m, is_turned(p) ? p.n : p.m), plan.n = std::max(plan.n, is_turned(p) ? p.m : p.n);
    plan.k = std::max(plan.k, p.k);
  }
  plan.backend = backend::traits<Exec>::name, plan.type = Types::name;
  return plan;
}

/// The problems of a list that are not empty, each transposed if that makes rows of C run along memory. If `keeps_c`, products
/// without terms leave C as it is, and are left out too.
template <class Exec, class Types>
std::vector<grouped_problem<Types>> problems_to_do(const Exec& exec,
                                                   const std::vector<gemm_problem<Types>>& problems,
                                                   bool has_terms, bool keeps_c) {
  std::vector<grouped_problem<Types>> all;
  all.reserve(problems.size());
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const gemm_problem<Types>& listed = problems[i];
    const index_t k = has_terms ? listed.k : 0;
    if (listed.m == 0 || listed.n == 0 || (k == 0 && keeps_c)) continue;
    all.push_back({listed});
    // Changed in its place: to copy it would have to wait for what was just written.
    grouped_problem<Types>& p = all.back();
    p.k = k, p.place.batch = index_t(i);
    // One kernel does them all, so A must be of the same kind of elements (tiling::reading) in each.
    if (p.a.kind() == p.b.kind() && planner<Exec>::prefers_transposed(exec, p)) p.transpose();
  }
  return all;
}
template <class Types>
bool have_terms(const std::vector<grouped_problem<Types>>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const auto& p) { return p.k > 0; });
}
/// A problem of these as the caller has it: plans of products are in terms of that.
template <class Types>
gemm_problem<Types> as_listed(const grouped_problem<Types>& p,
                              const std::vector<gemm_problem<Types>>& problems) {
  gemm_problem<Types> listed = problems[std::size_t(p.place.batch)];
  listed.place.batch = p.place.batch;
  return listed;
}

/// How a batch is done, as a value.
template <class Exec, class Types>
gemm_batch_plan plan_batch(const Exec& exec, uniform_batch<Types> batch, const batch_alignment& alignment,
                           epilogue_of_product whose) {
  gemm_batch_plan plan = description_of<Exec>(batch);
  const gemm_problem<Types>& p = batch.shape;
  if (batch.count == 0 || p.m == 0 || p.n == 0 || p.k == 0) return plan;
  if (become_one(batch, whose))
    plan.way = batch_way::one_product;
  else
    batch_planner<Exec>::choose(exec, batch, representative_of(batch, alignment), whose, plan);
  if (plan.way == batch_way::one_product || plan.way == batch_way::one_by_one)
    plan.products.push_back(choose_plan(exec, p, {}, whose));
  return plan;
}
template <class Exec, class Types>
gemm_batch_plan plan_batch(const Exec& exec, const std::vector<gemm_problem<Types>>& problems,
                           epilogue_of_product whose) {
  gemm_batch_plan plan = description_of<Exec>(problems);
  const auto all = problems_to_do(exec, problems, true, false);
  if (!have_terms(all)) return plan;
  batch_planner<Exec>::choose(exec, all, representative_of(all), whose, plan);
  for (const auto& p : all)
    if (p.k > 0 && !batch_planner<Exec>::is_together(p, plan))
      plan.products.push_back(choose_plan(exec, as_listed(p, problems), {}, whose));
  return plan;
}

/// Throws unless a caller's block tile fits.
template <class Exec, class Types>
void check_tile_of_batch_fits(const Exec& exec, gemm_tile tile) {
  batch_planner<Exec>::template set_team<Types>(tile, false);
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, tile.team_size);
  if (tile.local_bytes > limit)
    throw launch_error("keramos::gemm_batched: options.plan has a block tile of " + to_string(tile.block) +
                       ", which needs " + std::to_string(tile.local_bytes) + " bytes of local memory, but " +
                       backend::traits<Exec>::name + " has " + std::to_string(limit) + " for a team of " +
                       std::to_string(tile.team_size) +
                       "; pass what plan_gemm_batched returns for this batch, or no plan");
}

/// Throws unless a caller's plan can be followed, before anything is launched.
template <class Exec, class Types>
[[gnu::noinline]] void check_plan_of(const Exec& exec, uniform_batch<Types> batch,
                                     const batch_alignment& alignment, const gemm_batch_plan& plan,
                                     epilogue_of_product whose) {
  check_batch_plan(plan, description_of<Exec>(batch));
  const bool alone = plan.way == batch_way::one_product || plan.way == batch_way::one_by_one;
  check_products(plan, alone ? 1 : 0);
  if (!alone) {
    if (!Types::transposable && plan.transposed)
      refuse_batch_plan("is transposed, but the types of A and B leave no choice");
    gemm_problem<Types> shape = representative_of(batch, alignment);
    if (plan.transposed) shape.transpose();
    batch_planner<Exec>::check(exec, batch, shape, plan, whose);
    if (plan.way == batch_way::tiled) check_tile_of_batch_fits<Exec, Types>(exec, plan);
    return;
  }
  if (plan.way == batch_way::one_product && !become_one(batch, whose))
    refuse_batch_plan(
        whose == epilogue_of_product::library
            ? "does the batch as one product, but its problems do not lie so that they are one"
            : "does the batch as one product, which one with an epilogue of the caller's is not; "
              "give plan_gemm_batched the epilogue too");
  if (!backend::traits<Exec>::is_host && (batch.a.addresses || batch.b.addresses || batch.c.addresses))
    refuse_batch_plan("does problems one by one, whose addresses are in memory that the device reads");
  for (index_t b = 0; b < batch.count; ++b) check_given_plan(exec, batch[b], plan.products[0], whose);
}
template <class Exec, class Types>
[[gnu::noinline]] void check_plan_of(const Exec& exec, const std::vector<gemm_problem<Types>>& problems,
                                     const std::vector<grouped_problem<Types>>& all,
                                     const gemm_problem<Types>& shape, const gemm_batch_plan& plan,
                                     epilogue_of_product whose) {
  check_batch_plan(plan, description_of<Exec>(problems));
  const auto is_product = [&](const auto& p) {
    return p.k > 0 && !batch_planner<Exec>::is_together(p, plan);
  };
  if (plan.way == batch_way::one_product)
    refuse_batch_plan("does the batch as one product, which a list is not");
  if (plan.transposed) refuse_batch_plan("transposes a list, of which each problem is done as suits it");
  if (plan.way != batch_way::one_by_one) batch_planner<Exec>::check(exec, all, shape, plan, whose);
  check_products(plan, std::count_if(all.begin(), all.end(), is_product));
  if (plan.way == batch_way::tiled) check_tile_of_batch_fits<Exec, Types>(exec, plan);
  auto product = plan.products.begin();
  for (const auto& p : all)
    if (is_product(p)) check_given_plan(exec, as_listed(p, problems), *product++, whose);
}

}  // namespace keramos::detail

// How a product is done, as a value: chosen, or checked if a caller gives it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// Throws unless the tile of a part that the caller asked for fits, whatever the operands' layouts; names one that does.
template <class Exec, class Types>
void check_tile_fits(const Exec& exec, const gemm_problem<Types>& p, gemm_part part, bool planned,
                     epilogue_of_product whose) {
  if (part.path != gemm_path::tiled) return;
  planner<Exec>::template set_team<Types>(part, part.pack_b);
  const std::size_t limit = backend::traits<Exec>::local_memory_limit(exec, part.team_size);
  if (part.local_bytes <= limit) return;
  gemm_part fitting;
  if constexpr (!Types::splits_elements)  // of whose tiles none may fit
    planner<Exec>::choose_tiles(exec, p, std::nullopt, whose, fitting);
  throw launch_error("keramos::gemm: options." +
                     std::string(planned ? "plan has a block tile of " : "block is ") +
                     to_string(part.block) + ", which needs " + std::to_string(part.local_bytes) +
                     " bytes of local memory, but " + backend::traits<Exec>::name + " has " +
                     std::to_string(limit) + " for a team of " + std::to_string(part.team_size) + "; pass " +
                     (Types::splits_elements ? "" : to_string(fitting.block) + " or ") + "none");
}

/// Makes a plan one for the transposed product.
inline void transpose(gemm_plan& plan) {
  std::swap(plan.m, plan.n);
  for (int i = 0; i < plan.size; ++i) {
    gemm_part& part = plan.parts[i];
    std::swap(part.m0, part.n0);
    std::swap(part.m, part.n);
    part.transposed = !part.transposed;
  }
}

/// Makes a plan for the caller's product one for the problem, or the other way round.
template <class Types>
void turn(gemm_plan& plan, const gemm_problem<Types>& p) {
  if (is_turned(p)) transpose(plan);
}

template <class Exec, class Types>
gemm_plan choose_plan(const Exec& exec, const gemm_problem<Types>& p, const gemm_options& options,
                      epilogue_of_product whose) {
  gemm_plan plan{p.m, p.n, p.k, backend::traits<Exec>::name, Types::name};
  if (p.m == 0 || p.n == 0 || p.k == 0) {
    turn(plan, p);
    return plan;
  }
  if (options.block) check_block(*options.block);
  if constexpr (emulated_types<Types> && computes<Exec, Types>)
    if (!planner<Exec>::gains_from_emulation(exec, p, options.block))
      return choose_plan(exec, in_types<typename Types::native>(p), options, whose);
  if constexpr (computes<Exec, Types>) planner<Exec>::choose(exec, p, options.block, whose, plan);
  turn(plan, p);
  return plan;
}

/// The problem of a part, transposed if the part is.
template <class Types>
gemm_problem<Types> problem_of(const gemm_problem<Types>& p, const gemm_part& part) {
  gemm_problem<Types> q = p.part(part.m0, part.n0, part.m, part.n);
  if (part.transposed) q.transpose();
  return q;
}

/// Throws unless a caller's plan can be followed. All parts are looked at first: what cannot be done at all launches nothing.
template <class Exec, class Types>
void check_given_plan(const Exec& exec, const gemm_problem<Types>& p, const gemm_plan& given,
                      epilogue_of_product whose) {
  check_plan(given, is_turned(p) ? p.n : p.m, is_turned(p) ? p.m : p.n, p.k, backend::traits<Exec>::name,
             Types::name);
  gemm_plan plan = given;
  turn(plan, p);
  for (int i = 0; i < plan.size; ++i) {
    if (!Types::transposable && plan.parts[i].transposed)
      refuse_plan(i, "is transposed, or is not, against the types of A and B, which leave no choice");
    const gemm_problem<Types> q = problem_of(p, plan.parts[i]);
    planner<Exec>::check(exec, q, plan.parts[i], i, whose);
    check_tile_fits(exec, q, plan.parts[i], true, whose);
  }
}

}  // namespace keramos::detail

// From a checked problem to a plan, and from its parts to launches. Compiled into the library; include it to instantiate
// GEMM for other types or epilogues.
//
// The way of a product: gemm (gemm.hpp), run_gemm and run_plan here, planner::run (plan/host.hpp, plan/simt.hpp). On GPUs
// that finds a part's collective in the table: with_collective (plan/simt_table.hpp), or for warpgroups launch_warpgroups and
// with_warpgroups (kernel/launch_warpgroups.hpp); on hosts there is one. Then launch_tiled (kernel/tiled.hpp), team_launch
// (core/detail/launch.hpp), on hosts for_each_team (backends/host/traits.hpp). On every team: gemm_kernel (kernel/tiled.hpp),
// the collective's run (collective/), and its accumulator's products. That of hosts calls micro_kernel::multiply
// (kernel/host/micro_kernel.hpp) through kernel_table, bound in src/gemm/host_kernels.cpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/products.hpp>

namespace keramos::detail {

template <class Epilogue>
inline constexpr epilogue_of_product whose_epilogue =
    is_linear<Epilogue>          ? epilogue_of_product::library
    : is_on_warpgroups<Epilogue> ? epilogue_of_product::caller_on_warpgroups
                                 : epilogue_of_product::caller;

/// C = epilogue(0, C): what is left of a GEMM when nothing is to be multiplied.
template <class Types, class Epilogue>
struct scale_kernel {
  gemm_problem<Types> p;
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<2> at) const {
    write_element(epilogue, p.place, typename Types::accumulator(0),
                  p.c[at[0] * p.c_row_stride + at[1] * p.c_col_stride], at[0], at[1]);
  }
};

template <class Exec, class Types, class Epilogue>
[[gnu::noinline]] void launch_scale(const Exec& exec, const gemm_problem<Types>& p,
                                    const Epilogue& epilogue) {
  launch("keramos::gemm_scale", [&] {
    range_for("keramos::gemm_scale", exec, range{p.m, p.n},
              scale_kernel<Types, Epilogue>{p, without_terms(epilogue)});
  });
}

/// Throws unless the tile of a part that the caller asked for fits, whichever way operands lie; names one that does.
template <class Exec, class Types>
void check_tile_fits(const Exec& exec, const gemm_problem<Types>& p, gemm_part part, bool planned,
                     epilogue_of_product whose) {
  if (part.path != gemm_path::tiled) return;
  planner<Exec>::template tell_team<Types>(part, part.pack_b);
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

/// Does a problem as options.plan says, or as the planner chooses, part by part. Not inlined: a tiny product is over in
/// less time than it takes to make room on the stack for a plan.
template <class Exec, class Types, class Epilogue>
[[gnu::noinline]] void run_plan(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                                const Epilogue& epilogue, const gemm_options& options) {
  constexpr auto whose = whose_epilogue<Epilogue>;
  if (options.plan) check_given_plan(exec, p, *options.plan, whose);
  gemm_plan plan = options.plan ? *options.plan : choose_plan(exec, p, options, whose);
  turn(plan, p);
  if (!options.plan && options.block)
    for (int i = 0; i < plan.size; ++i)
      check_tile_fits(exec, problem_of(p, plan.parts[i]), plan.parts[i], false, whose);
  for (int i = 0; i < plan.size; ++i)
    planner<Exec>::run(exec, memory, problem_of(p, plan.parts[i]), plan.parts[i], epilogue);
}

template <class Exec, class Types, class Epilogue>
void run_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
              const Epilogue& epilogue, const gemm_options& options) {
  if (p.m == 0 || p.n == 0) return;
  if (p.k == 0 || needs_no_terms(epilogue)) {
    if (!keeps_c_without_terms(epilogue)) launch_scale(exec, p, epilogue);
    return;
  }
  if constexpr (requires { planner<Exec>::run_tiny(exec, p, epilogue); })
    if (!options.block && !options.plan && planner<Exec>::run_tiny(exec, p, epilogue)) return;
  if constexpr (computes<Exec, Types>) run_plan(exec, memory, p, epilogue, options);
}

}  // namespace keramos::detail

// What the library holds is not compiled again where this is included (src/gemm/gemm_type.cpp.in compiles it).
#define KERAMOS_GEMM_INSTANCES(Template, Space, Types)                                       \
  Template KERAMOS_EXPORT void keramos::detail::run_gemm(                                    \
      const Space&, keramos::detail::workspace<Space>&, const keramos::gemm_problem<Types>&, \
      const keramos::detail::library_epilogue<Types>&, const keramos::gemm_options&);        \
  Template KERAMOS_EXPORT keramos::gemm_plan keramos::detail::choose_plan(                   \
      const Space&, const keramos::gemm_problem<Types>&, const keramos::gemm_options&,       \
      keramos::detail::epilogue_of_product);
#define KERAMOS_GEMM_OF_LIBRARY(Types, Space) \
  KERAMOS_GEMM_INSTANCES(extern template, Space, keramos::types::Types)
#define KERAMOS_GEMM_OF_SPACE(Space) KERAMOS_FOR_EACH_PRODUCT(KERAMOS_GEMM_OF_LIBRARY, Space)
KERAMOS_FOR_EACH_SPACE(KERAMOS_GEMM_OF_SPACE)

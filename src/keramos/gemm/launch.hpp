// From a checked problem to a plan, and from its parts to launches. Compiled into the library; include it to instantiate
// GEMM for other types or epilogues.
//
// The way of a product: gemm (gemm.hpp), run_gemm and run_plan here, planner::run (plan/host.hpp, plan/simt.hpp). On GPUs
// that finds the kernel for a part's row and operands by with_kernel (kernel/with_kernel.hpp), for warpgroups by way of
// launch_warpgroups (kernel/launch_warpgroups.hpp); on hosts there is one. Then launch_tiled
// (kernel/tiled.hpp), team_launch (core/detail/launch.hpp), on hosts for_each_team (backends/host/traits.hpp). On every team:
// gemm_kernel (kernel/tiled.hpp), the collective's run (collective/), and its accumulator's products. That of hosts calls
// micro_kernel::multiply (gemm/host/micro_kernel.hpp) through kernel_table, bound in src/gemm/host_kernels.cpp.
#pragma once

#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/options.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/planner.hpp>
#include <keramos/gemm/plan/product.hpp>
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

/// Does a problem as options.plan says, or as the planner chooses, part by part. Not inlined: run_gemm would make room on the
/// stack for a plan first, which takes longer than a tiny product.
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
  if (options.block) check_block(*options.block);
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

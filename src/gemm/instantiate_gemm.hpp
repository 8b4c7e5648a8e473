// Instantiates detail::run_gemm for a product's types and every execution space of the found Kokkos.
#pragma once

#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/launch.hpp>

namespace keramos::detail {

template <class Exec, class Types>
void run_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
              const linear_epilogue<typename Types::accumulator>& epilogue, const gemm_options& options) {
  dispatch_gemm(exec, memory, p, epilogue, options);
}
template <class Exec, class Types>
gemm_plan make_plan(const Exec& exec, const gemm_problem<Types>& p, const gemm_options& options) {
  return choose_plan(exec, p, options);
}

}  // namespace keramos::detail

#define KERAMOS_INSTANTIATE_GEMM(Space, Types)                                                    \
  template KERAMOS_EXPORT void keramos::detail::run_gemm<Space, Types>(                           \
      const Space&, keramos::detail::workspace<Space>&, const keramos::gemm_problem<Types>&,      \
      const keramos::detail::linear_epilogue<Types::accumulator>&, const keramos::gemm_options&); \
  template KERAMOS_EXPORT keramos::gemm_plan keramos::detail::make_plan<Space, Types>(            \
      const Space&, const keramos::gemm_problem<Types>&, const keramos::gemm_options&);

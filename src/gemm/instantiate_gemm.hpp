// Instantiates detail::run_gemm for one type and every execution space of the found Kokkos.
#pragma once

#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/launch.hpp>

namespace keramos::detail {

template <class Exec, class T>
void run_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
              const linear_epilogue<T>& epilogue, const gemm_options& options) {
  dispatch_gemm(exec, memory, p, epilogue, options);
}
template <class Exec, class T>
gemm_plan make_plan(const Exec& exec, const gemm_problem<T>& p, const gemm_options& options) {
  return choose_plan(exec, p, options);
}

}  // namespace keramos::detail

#define KERAMOS_INSTANTIATE_GEMM(Space, T)                                               \
  template KERAMOS_EXPORT void keramos::detail::run_gemm<Space, T>(                      \
      const Space&, keramos::detail::workspace<Space>&, const keramos::gemm_problem<T>&, \
      const keramos::detail::linear_epilogue<T>&, const keramos::gemm_options&);         \
  template KERAMOS_EXPORT keramos::gemm_plan keramos::detail::make_plan<Space, T>(       \
      const Space&, const keramos::gemm_problem<T>&, const keramos::gemm_options&);

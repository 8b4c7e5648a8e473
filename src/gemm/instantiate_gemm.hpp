// Instantiates detail::run_gemm for one type and every execution space of the found Kokkos.
#pragma once

#include <keramos/gemm/gemm.hpp>
#include <keramos/gemm/launch.hpp>

namespace keramos::detail {

template <class Exec, class T>
void run_gemm(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
              const linear_epilogue<T>& epilogue, const std::optional<tiling::shape>& block) {
  dispatch_gemm(exec, memory, p, epilogue, block);
}

}  // namespace keramos::detail

#define KERAMOS_INSTANTIATE_GEMM(Space, T)                                               \
  template KERAMOS_EXPORT void keramos::detail::run_gemm<Space, T>(                      \
      const Space&, keramos::detail::workspace<Space>&, const keramos::gemm_problem<T>&, \
      const keramos::linear_epilogue<T>&, const std::optional<keramos::tiling::shape>&);

// Instantiates detail::run_gemm_batched for one type and every execution space of the found Kokkos.
#pragma once

#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/launch_batched.hpp>

namespace keramos::detail {

template <class Exec, class T>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, const uniform_batch<T>& batch,
                      const batch_alignment& alignment, const linear_epilogue<T>& epilogue) {
  dispatch_gemm_batched(exec, memory, batch, alignment, epilogue);
}
template <class Exec, class T>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, std::vector<gemm_problem<T>> problems,
                      const linear_epilogue<T>& epilogue) {
  dispatch_gemm_batched(exec, memory, problems, epilogue);
}

}  // namespace keramos::detail

#define KERAMOS_INSTANTIATE_GEMM_BATCHED(Space, T)                                             \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, T>(                    \
      const Space&, keramos::detail::workspace<Space>&, const keramos::uniform_batch<T>&,      \
      const keramos::batch_alignment&, const keramos::detail::linear_epilogue<T>&);            \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, T>(                    \
      const Space&, keramos::detail::workspace<Space>&, std::vector<keramos::gemm_problem<T>>, \
      const keramos::detail::linear_epilogue<T>&);

// Instantiates detail::run_gemm_batched for a product's types and every execution space of the found Kokkos.
#pragma once

#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/launch_batched.hpp>

namespace keramos::detail {

template <class Exec, class Types>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, const uniform_batch<Types>& batch,
                      const batch_alignment& alignment,
                      const linear_epilogue<typename Types::accumulator>& epilogue) {
  dispatch_gemm_batched(exec, memory, batch, alignment, epilogue);
}
template <class Exec, class Types>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, std::vector<gemm_problem<Types>> problems,
                      const linear_epilogue<typename Types::accumulator>& epilogue) {
  dispatch_gemm_batched(exec, memory, problems, epilogue);
}

}  // namespace keramos::detail

#define KERAMOS_INSTANTIATE_GEMM_BATCHED(Space, Types)                                               \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, Types>(                      \
      const Space&, keramos::detail::workspace<Space>&, const keramos::uniform_batch<Types>&,        \
      const keramos::batch_alignment&, const keramos::detail::linear_epilogue<Types::accumulator>&); \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, Types>(                      \
      const Space&, keramos::detail::workspace<Space>&, std::vector<keramos::gemm_problem<Types>>,   \
      const keramos::detail::linear_epilogue<Types::accumulator>&);

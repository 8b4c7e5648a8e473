// keramos::gemm_batched as the library has it, for the sources that instantiate it for one product's types.
#pragma once

#include <vector>

#include <keramos/gemm/batched.hpp>
#include <keramos/gemm/launch_batched.hpp>

namespace keramos::detail {

template <class Exec, class Types>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, const uniform_batch<Types>& batch,
                      const batch_alignment& alignment, const library_epilogue<Types>& epilogue,
                      const gemm_batch_plan* plan) {
  if constexpr (computes<Exec, Types>) dispatch_gemm_batched(exec, memory, batch, alignment, epilogue, plan);
}
template <class Exec, class Types>
void run_gemm_batched(const Exec& exec, workspace<Exec>& memory, std::vector<gemm_problem<Types>> problems,
                      const library_epilogue<Types>& epilogue, const gemm_batch_plan* plan) {
  if constexpr (computes<Exec, Types>) dispatch_gemm_batched(exec, memory, problems, epilogue, plan);
}

template <class Exec, class Types>
gemm_batch_plan choose_batch_plan(const Exec& exec, const uniform_batch<Types>& batch,
                                  const batch_alignment& alignment, epilogue_of_product whose) {
  if constexpr (computes<Exec, Types>) return plan_batch(exec, batch, alignment, whose);
  return {};
}
template <class Exec, class Types>
gemm_batch_plan choose_batch_plan(const Exec& exec, const std::vector<gemm_problem<Types>>& problems,
                                  epilogue_of_product whose) {
  if constexpr (computes<Exec, Types>) return plan_batch(exec, problems, whose);
  return {};
}

}  // namespace keramos::detail

#define KERAMOS_GEMM_BATCHED_INSTANCES(Space, Types)                                                 \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, Types>(                      \
      const Space&, keramos::detail::workspace<Space>&, const keramos::uniform_batch<Types>&,        \
      const keramos::batch_alignment&, const keramos::detail::library_epilogue<Types>&,              \
      const keramos::gemm_batch_plan*);                                                              \
  template KERAMOS_EXPORT void keramos::detail::run_gemm_batched<Space, Types>(                      \
      const Space&, keramos::detail::workspace<Space>&, std::vector<keramos::gemm_problem<Types>>,   \
      const keramos::detail::library_epilogue<Types>&, const keramos::gemm_batch_plan*);             \
  template KERAMOS_EXPORT keramos::gemm_batch_plan keramos::detail::choose_batch_plan<Space, Types>( \
      const Space&, const keramos::uniform_batch<Types>&, const keramos::batch_alignment&,           \
      keramos::detail::epilogue_of_product);                                                         \
  template KERAMOS_EXPORT keramos::gemm_batch_plan keramos::detail::choose_batch_plan<Space, Types>( \
      const Space&, const std::vector<keramos::gemm_problem<Types>>&, keramos::detail::epilogue_of_product);

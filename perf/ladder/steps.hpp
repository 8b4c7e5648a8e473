// All steps for one type: included by the files that instantiate them.
#pragma once

#include "1_naive.hpp"
#include "2_tiled.hpp"
#include "3_coalesced.hpp"
#include "4_conflict_free.hpp"
#include "5_outer_product.hpp"
#include "6_unrolled.hpp"
#include "7_prefetched.hpp"
#include "8_vectorized.hpp"
#include "9_tensor_cores.hpp"
#include "measure/device/machine_queue.hpp"
#include "step.hpp"

namespace keramos::perf::ladder {

template <class T, int Width, class Step>
void enqueue(const gemm_case& g, const operand_set& set) {
  const index_t m = g.m, n = g.n, k = g.k;
  const auto* const a = static_cast<const T*>(set.a);
  const auto* const b = static_cast<const T*>(set.b);
  Step::template run<T, Width>(
      machine_queue(), {row_major<const T>(a, m, k),
                        Step::transposed_b ? row_major<const T>(b, n, k) : row_major<const T>(b, k, n),
                        row_major<T>(static_cast<T*>(set.c), m, n), m, n, k});
}

template <class T, int Width, class Step>
ladder_step step_of() {
  const tiling::shape block = Step::template block<T, Width>();
  return {Step::name,
          Step::why,
          Step::transposed_b,
          Step::beside,
          block.m,
          block.n,
          block.k,
          Step::template elements<T, Width>,
          enqueue<T, Width, Step>,
          [] {
            if constexpr (std::is_same_v<Step, tensor_cores>)
              return tensor_cores::exists<T> &&
                     tensor_cores::mma::matrix_unit_works(machine_queue().execution_space());
            return true;
          }};
}

template <class T, int Width, class... Step>
std::vector<ladder_step> steps_of() {
  return {step_of<T, Width, Step>()...};
}

template <class T, int Width>
std::vector<ladder_step> all_steps() {
  return steps_of<T, Width, naive, tiled, uncoalesced, coalesced, conflicting, conflict_free, outer_product,
                  unrolled, prefetched, vectorized, tensor_cores>();
}

// Instantiated in steps_<type>.cpp; sums of integers wrap, so T is unsigned for i32.
template <class T>
std::vector<ladder_step> steps_for(int width);

template <class T>
std::vector<ladder_step> instantiated_steps(int width) {
  return width == 8 ? all_steps<T, 8>() : width == 16 ? all_steps<T, 16>() : all_steps<T, 32>();
}

}  // namespace keramos::perf::ladder

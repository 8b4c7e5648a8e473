// A step's kernel as the harness sees it.
#pragma once

#include <string>
#include <vector>

#include "matrices.hpp"
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
          [](const gemm_case& g) -> std::string {
            if constexpr (requires { Step::template cannot<T>(g); })
              return Step::template cannot<T>(g);
            else
              return {};
          }};
}

template <class T, int Width, class... Step>
std::vector<ladder_step> steps_of() {
  return {step_of<T, Width, Step>()...};
}

}  // namespace keramos::perf::ladder

// Every op of A and of B with every mix of layouts, so that `keramos-perf support` has no hole by chance.
#pragma once

#include "gemm_case.hpp"

namespace keramos::test {

/// f(op_a, op_b, layout of A, of B, of C) for all 243.
template <class F>
void for_ops_and_layouts(const F& f) {
  constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
  constexpr op ops[] = {op::N, op::T, op::C};
  for (const op op_a : ops)
    for (const op op_b : ops)
      for (const layout a : layouts)
        for (const layout b : layouts)
          for (const layout c : layouts) f(op_a, op_b, a, b, c);
}

}  // namespace keramos::test

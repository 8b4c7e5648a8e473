// Every op of A and of B with every mix of layouts, so that `keramos-perf support` has no hole by chance.
#pragma once

#include "gemm_case.hpp"

namespace keramos::test {

/// f(layout of A, of B, of C) for all 27.
template <class F>
void for_layouts(const F& f) {
  constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
  for (const layout a : layouts)
    for (const layout b : layouts)
      for (const layout c : layouts) f(a, b, c);
}
/// f(op_a, op_b) for all 9.
template <class F>
void for_ops(const F& f) {
  constexpr op ops[] = {op::N, op::T, op::C};
  for (const op op_a : ops)
    for (const op op_b : ops) f(op_a, op_b);
}
/// f(op_a, op_b, layout of A, of B, of C) for all 243.
template <class F>
void for_ops_and_layouts(const F& f) {
  for_ops(
      [&](op op_a, op op_b) { for_layouts([&](layout a, layout b, layout c) { f(op_a, op_b, a, b, c); }); });
}

}  // namespace keramos::test

// All steps for one type: included by the files that instantiate them.
#pragma once

#include <type_traits>
#include <vector>

#include "1_naive.hpp"
#include "2_tiled.hpp"
#include "3_coalesced.hpp"
#include "4_conflict_free.hpp"
#include "5_outer_product.hpp"
#include "6_unrolled.hpp"
#include "7_prefetched.hpp"
#include "8_vectorized.hpp"
#include "9_tensor_cores.hpp"
#include "step_of.hpp"

namespace keramos::perf::ladder {

// Instantiated in steps_<type>.cpp; sums of integers wrap, so T is unsigned for i32.
template <class T>
std::vector<ladder_step> steps_for(int width);

// `f(w)` with the width as a constant.
template <class F>
auto with_width(int width, const F& f) {
  return width == 8    ? f(std::integral_constant<int, 8>())
         : width == 16 ? f(std::integral_constant<int, 16>())
                       : f(std::integral_constant<int, 32>());
}

template <class T>
std::vector<ladder_step> instantiated_steps(int width) {
  return with_width(width, [](auto w) {
    return steps_of<T, w(), naive, tiled, uncoalesced, coalesced, conflicting, conflict_free, outer_product,
                    unrolled, prefetched, vectorized, tensor_cores>();
  });
}

}  // namespace keramos::perf::ladder

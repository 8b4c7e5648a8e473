// For the files that include Kokkos: the op of an operand as the library calls it.
#pragma once

#include <keramos/gemm/problem.hpp>

#include "core/problem.hpp"

namespace keramos::perf {

inline keramos::op op_of(transpose op) {
  return op == transpose::N ? keramos::op::N : op == transpose::T ? keramos::op::T : keramos::op::C;
}

}  // namespace keramos::perf

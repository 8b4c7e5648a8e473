// For the files that include Kokkos: what is asked of the library, as it calls it.
#pragma once

#include <keramos/gemm/problem.hpp>

#include "measure/core/problem.hpp"

namespace keramos::perf {

inline keramos::op op_of(transpose op) {
  return op == transpose::N ? keramos::op::N : op == transpose::T ? keramos::op::T : keramos::op::C;
}
inline keramos::gemm_compute compute_of(data_type type) {
  return type == data_type::tf32           ? keramos::gemm_compute::tf32
         : type == data_type::f32_emulated ? keramos::gemm_compute::f32_emulated
         : type == data_type::f64_emulated ? keramos::gemm_compute::f64_emulated
                                           : keramos::gemm_compute::standard;
}

}  // namespace keramos::perf

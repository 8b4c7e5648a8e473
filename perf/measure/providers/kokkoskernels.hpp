// The two gemms of Kokkos Kernels.
#pragma once

#include <keramos/config.hpp>
#include <string>

#include "provider.hpp"

namespace keramos::perf {

using kokkoskernels_call = void (*)(const gemm_case&, const operand_set&,
                                    const keramos::default_execution_space&);

namespace native {
kokkoskernels_call pick_f32(matrix_layout layout);
kokkoskernels_call pick_f64(matrix_layout layout);
kokkoskernels_call pick_i32(matrix_layout layout);
kokkoskernels_call pick_c32(matrix_layout layout);
kokkoskernels_call pick_c64(matrix_layout layout);
}  // namespace native

namespace tpl {
// "blas" or "cublas" where the package's gemm on the default execution space is another library's;
// "" where it is native.
const char* name();
kokkoskernels_call pick(data_type type, matrix_layout layout);  // null but for f32, f64, c32 and c64
}  // namespace tpl

}  // namespace keramos::perf

// Kokkos Kernels' own gemm, whatever its package was built with, instantiated in the file that
// includes this. Included first, and only by kokkoskernels_native_*.cpp, which make up a library of
// their own.
//
// With a TPL on, KokkosBlas::gemm of f32 and f64 is that library's, so the TPL is taken out of the
// package's configuration here. The same names would then mean two things in one program, so the
// namespace is renamed too. A shared library with hidden symbols would do as well, but not where
// Kokkos is linked statically: it would bring a second Kokkos, never initialised.
#pragma once

#include <KokkosKernels_config.h>
#undef KOKKOSKERNELS_ENABLE_TPL_BLAS
#undef KOKKOSKERNELS_ENABLE_TPL_MKL
#undef KOKKOSKERNELS_ENABLE_TPL_ARMPL
#undef KOKKOSKERNELS_ENABLE_TPL_CUBLAS
#undef KOKKOSKERNELS_ENABLE_TPL_ROCBLAS
#undef KOKKOSKERNELS_ETI_ONLY
#define KokkosBlas KeramosPerfNativeKokkosBlas

// The package's library holds instantiations of some types (ETI). They were compiled with its flags
// and its namespace: leave their declarations out, so that all types are instantiated here.
#define KOKKOSBLAS3_GEMM_ETI_SPEC_AVAIL_HPP_
#define KOKKOSBLAS3_GEMM_ETI_SPEC_DECL_HPP_
#define KOKKOSBLAS2_GEMV_ETI_SPEC_AVAIL_HPP_
#define KOKKOSBLAS2_GEMV_ETI_SPEC_DECL_HPP_
#define KOKKOSBLAS1_SCAL_ETI_SPEC_AVAIL_HPP_
#define KOKKOSBLAS1_SCAL_ETI_SPEC_DECL_HPP_
#define KOKKOSBLAS1_SCAL_MV_ETI_SPEC_AVAIL_HPP_
#define KOKKOSBLAS1_SCAL_MV_ETI_SPEC_DECL_HPP_

#define KERAMOS_PERF_KK native
#include "kokkoskernels_call.hpp"

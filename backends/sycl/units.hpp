// Which matrix units kernels may count on. A number, for tables that leave rows out.
#pragma once

#include <Kokkos_Macros.hpp>

// 1: units that multiply fragments of 8 x 16 x 32 bytes for a sub-group of 16: Xe Matrix Extensions of the Data Center GPU Max,
// for which Kokkos compiles ahead of time. What it compiles just in time runs on any GPU, and takes FMA units.
// 2: AMX of processors, for tests. It has the same fragments, but none of tf32; f16 from Granite Rapids on. Fragments of B are
// loaded from plain rows: of packed ones Intel's OpenCL 2026.2 for processors gives two the same register.
// (sycl_ext_oneapi_matrix, "Supported Combinations Per Hardware".)
#if !defined(KERAMOS_SYCL_UNITS)
#if defined(KOKKOS_ARCH_INTEL_PVC)
#define KERAMOS_SYCL_UNITS 1
#else
#define KERAMOS_SYCL_UNITS 0
#endif
#endif

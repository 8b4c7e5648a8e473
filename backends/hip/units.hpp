// Which matrix units and multiprocessors the architecture has that Kokkos compiles for. Of units a number too, for tables that
// leave rows out.
#pragma once

#include <Kokkos_Macros.hpp>

#include <keramos/backends/hip/fragments.hpp>
#include <keramos/backends/hip/multiprocessor.hpp>

#if defined(KOKKOS_ARCH_AMD_GFX90A)
#define KERAMOS_HIP_UNITS 1
#elif defined(KOKKOS_ARCH_AMD_GFX942) || defined(KOKKOS_ARCH_AMD_GFX942_APU) || \
    defined(KOKKOS_ARCH_AMD_GFX950)
#define KERAMOS_HIP_UNITS 2
#elif defined(KOKKOS_ARCH_AMD_GFX1100) || defined(KOKKOS_ARCH_AMD_GFX1101) || \
    defined(KOKKOS_ARCH_AMD_GFX1103) || defined(KOKKOS_ARCH_AMD_GFX1151) || defined(KOKKOS_ARCH_AMD_GFX1152)
#define KERAMOS_HIP_UNITS 3
#else
#define KERAMOS_HIP_UNITS 0
#endif

namespace keramos::backend::hip {

inline constexpr matrix_units units{KERAMOS_HIP_UNITS};

/// Whether MFMA of elements of 16 and 8 bits has twice the k of gfx942's, and with it twice the rate; and whether it multiplies
/// floats of eight bits as OCP defines them, which ours are.
#if defined(KOKKOS_ARCH_AMD_GFX950)
#define KERAMOS_HIP_F8_UNITS
inline constexpr bool has_long_mfma = true, has_ocp_f8 = true;
#else
inline constexpr bool has_long_mfma = false, has_ocp_f8 = false;
#endif

/// Whether MFMA multiplies tf32, which AMD calls xf32: on gfx942 alone (LLVM, "Syntax of GFX940 instructions").
inline constexpr bool has_xf32 = units == matrix_units::cdna3 && !has_long_mfma;

/// Bytes that a lane copies at a time from global to local memory without registers, where wavefronts take turns: 4 on gfx942,
/// 16 on gfx950 (LLVM, "Syntax of GFX940 instructions"; AMD CDNA 4 ISA). 0 elsewhere, also on gfx90a, which could copy 4 but has
/// no such rows.
#if defined(KOKKOS_ARCH_AMD_GFX950)
inline constexpr int direct_bytes = 16;
#elif KERAMOS_HIP_UNITS == 2
inline constexpr int direct_bytes = 4;
#else
inline constexpr int direct_bytes = 0;
#endif

#if defined(KOKKOS_ARCH_AMD_GFX950)
inline constexpr multiprocessor unit = cdna4;
#elif KERAMOS_HIP_UNITS == 3 || defined(KOKKOS_ARCH_AMD_GFX1030) || defined(KOKKOS_ARCH_AMD_GFX1201)
inline constexpr multiprocessor unit = rdna;
#else
inline constexpr multiprocessor unit = cdna;
#endif

}  // namespace keramos::backend::hip

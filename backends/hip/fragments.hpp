// Fragments of AMD's matrix instructions. Their layouts are those of AMD's Matrix Instruction Calculator
// (https://github.com/ROCm/amd_matrix_instruction_calculator) and of the ISA documents of CDNA2 and CDNA3 ("Dense Matrix
// Layouts") and RDNA3 ("Wave Matrix Multiply Accumulate"). No Kokkos here: tests of hosts read it.
#pragma once

#include <type_traits>

#include <keramos/backends/simt/wave_fragment.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend::hip {

/// What multiplies: nothing but FMA units, MFMA of gfx90a, MFMA of gfx942 and later, or WMMA of gfx11 (units.hpp).
enum class matrix_units { none, cdna2, cdna3, rdna3 };

/// Elements E of 16 bytes a lane: one to eight MFMA, or one WMMA, whose lanes 16 to 31 have the elements of lanes 0 to 15.
/// Sums of f64 lie four rows apart (V_MFMA_F64_16X16X4F64), others of MFMA side by side; those of WMMA two rows apart.
template <class E>
constexpr simt::wave_fragment fragment_of(matrix_units units) {
  if (units == matrix_units::rdna3) return {32, 16, 1, true};
  return {64, 16 / int(sizeof(E)), 4, std::is_same_v<E, double>};
}

/// To the nearest tf32, ties away from zero, so that it does not matter how MFMA rounds; NaN and infinities as they are.
KERAMOS_FORCEINLINE_FUNCTION constexpr unsigned rounded_to_tf32(unsigned bits) {
  const bool is_finite = (~bits & 0x7f800000u) != 0;
  return is_finite ? (bits + 0x1000u) & ~0x1fffu : bits;
}

/// Bytes of a word as MFMA takes them, which knows signed ones alone: of unsigned ones 128 is taken away, which inverts their
/// top bits.
template <bool Signed, class Word>
KERAMOS_FORCEINLINE_FUNCTION constexpr Word as_signed(Word x) {
  return Signed ? x : x ^ Word(0x8080808080808080u);
}

}  // namespace keramos::backend::hip

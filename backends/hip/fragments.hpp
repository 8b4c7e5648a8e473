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

/// Sums products of the bytes of two words by `multiply`, which takes them as signed. Unsigned bytes are signed ones with 128
/// added, where their top bits are inverted; 128 is twice 64. Where both are unsigned, 128·128 is missing for each product.
template <bool SignedX, bool SignedY, class Word, class Multiply>
KERAMOS_FORCEINLINE_FUNCTION void multiply_signed(Word x, Word y, const Multiply& multiply) {
  constexpr Word tops = Word(0x8080808080808080u), halves = Word(0x4040404040404040u);
  x ^= SignedX ? Word(0) : tops, y ^= SignedY ? Word(0) : tops;
  multiply(x, y);
  if constexpr (!SignedX) multiply(halves, y), multiply(halves, y);
  if constexpr (!SignedY) multiply(x, halves), multiply(x, halves);
}

}  // namespace keramos::backend::hip

// Lanes of a warp that exchange what they have, so that each has neighbours in memory.
#pragma once

#include <keramos/base/macros.hpp>

namespace keramos::detail::simt {

/// Transposes the square of which each of `Size` neighbouring lanes, two or four, has a row: lane `number` of them then has the
/// column `number`. By all lanes of a warp.
template <class Atom, class T, int Size>
KERAMOS_FORCEINLINE_FUNCTION void transpose_in_lanes(T (&x)[Size], int number) {
  static_assert(Size == 2 || Size == 4);
  KERAMOS_UNROLL
  for (int bit = 1; bit < Size; bit *= 2) {
    const bool upper = (number & bit) != 0;
    KERAMOS_UNROLL
    for (int v = 0; v < Size; ++v) {
      if ((v & bit) != 0) continue;
      const T a = x[v], b = x[v + bit];  // copies: a choice between elements of x would put it in memory
      const T got = Atom::shuffle_xor(upper ? a : b, bit);
      x[v] = upper ? got : a;
      x[v + bit] = upper ? b : got;
    }
  }
}

}  // namespace keramos::detail::simt

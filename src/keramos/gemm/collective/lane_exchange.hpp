// Lanes of a warp that have runs of a few columns of C, and exchange them where rows of C begin anywhere. Then one store of a warp
// writes whole runs of a row, not one element of every two or four.
#pragma once

#include <keramos/base/macros.hpp>

namespace keramos::detail::simt {

/// One of `Size` lanes, two or four, that have runs of as many columns of as many rows: a square, which they transpose if columns
/// of C are neighbours. Then each has one column of these rows.
template <class Atom, int Size, int Gap = 0>
class exchanging_lane {
  static_assert(Size == 2 || Size == 4);

 public:
  using atom = Atom;
  static constexpr int size = Size;
  /// Columns of C between the second and the third of a run.
  static constexpr int gap = Gap;
  /// Rows and columns from one element of the lane to the next, after transpose().
  int rows_apart, cols_apart;
  int number;  ///< of this lane among those that exchange, or 0 where none do

  /// `own` is the lane's number. Lanes whose numbers differ in bit 0 differ in the bits `first` of the warp's lanes, those whose
  /// numbers differ in bit 1 in the bits `second`. Their rows are `apart` apart.
  KERAMOS_FORCEINLINE_FUNCTION exchanging_lane(bool columns_are_neighbours, int own, int first, int second,
                                               int apart)
      : rows_apart(columns_are_neighbours ? apart : 0),
        cols_apart(columns_are_neighbours ? 0 : 1),
        number(columns_are_neighbours ? own : 0),
        first_(columns_are_neighbours ? first : 0),
        second_(columns_are_neighbours ? second : 0) {}

  /// From a row to a column. With lanes that exchange nothing, x stays as it is.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION void transpose(T (&x)[Size]) const {
    KERAMOS_UNROLL
    for (int bit = 1; bit < Size; bit *= 2) {
      const bool upper = (number & bit) != 0;
      KERAMOS_UNROLL
      for (int v = 0; v < Size; ++v) {
        if ((v & bit) != 0) continue;
        const T a = x[v], b = x[v + bit];  // copies: a choice between elements of x would put it in memory
        const T got = Atom::shuffle_xor(upper ? a : b, bit == 1 ? first_ : second_);
        x[v] = upper ? got : a;
        x[v + bit] = upper ? b : got;
      }
    }
  }

 private:
  int first_, second_;
};

}  // namespace keramos::detail::simt

// The layout of k-tiles in local memory for tensor cores that read them there.
#pragma once

#include <keramos/base/macros.hpp>
#include <keramos/tile/lines.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A k-tile of one operand as warpgroups read it: lines of 128 bytes, whose runs of 16 bytes change places from line to line,
/// so that any eight neighbouring lines are read from all banks at once. A line is a row along k, or as much of a column of
/// k along m or n; there the panel is columns of lines, beside each other (PTX ISA, "Shared Memory Matrix Layout", swizzling
/// of 128 bytes, "K-major" and "MN-major").
template <class T, int MN, int K, tiling::direction Rows>
class line_panel {
  using lines = tiling::lines<T>;
  static constexpr bool along_k = Rows == tiling::direction::k;
  static constexpr int line = lines::length;
  static_assert(along_k ? K == line : MN % line == 0);

 public:
  static constexpr bool swizzled = true, along_mn = !along_k;
  static constexpr int stride_mn = along_k ? line : 1,
                       stride_k = along_k ? 1 : line;  ///< inside a column of lines
  static constexpr int size = MN * K, period = 8;
  /// A line is all of a row that is stored together; from column to column of lines an element's place moves so far for each.
  static constexpr int most_of_row = line, column_stride = K;
  static constexpr int column_bytes = along_k ? 16 : K * 128;  ///< along k there is one column only

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int mn, int k) {
    if constexpr (along_k)
      return mn * line + lines::swizzled(mn, k);
    else
      return mn / line * (line * K) + k * line + lines::swizzled(k, mn % line);
  }
  /// Bytes from the panel's begin to row or column mn, a multiple of 8 or of a line, and to 32 bytes along k.
  KERAMOS_FORCEINLINE_FUNCTION static int bytes_to(int mn, int step) {
    return along_k ? mn * 128 + step * 32 : mn * K * int(sizeof(T)) + step * (32 / int(sizeof(T))) * 128;
  }
};

}  // namespace keramos::detail::simt

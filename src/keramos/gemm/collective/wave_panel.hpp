// The layout of k-tiles in local memory for AMD's matrix units (wave_mma.hpp).
#pragma once

#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/panel.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A k-tile of one operand: element (mn, k) is `data[offset(mn, k)]`. No row is padded.
///
/// Of rows along k, and of short elements, runs of 16 bytes change places within each 128 bytes, in another way in each of eight
/// lines. So lanes that read 16 bytes of one row each find them in different banks: eight neighbours, as writes go, and lanes 0-3
/// with 20-23, 4-7 with 16-19 and so on, as CDNA serves reads (Composable Kernel, "LDS bank conflicts"). Rows of four-byte and
/// eight-byte elements along m or n are read in one piece.
template <class T, int MN, int K, tiling::direction Rows>
class wave_panel : public tiling::reading<T> {
  static constexpr bool along_k = Rows == tiling::direction::k;
  static constexpr int rows = along_k ? MN : K, extent = along_k ? K : MN;  ///< `extent` elements each
  using in_lines = swizzled_rows<T, extent>;

 public:
  static constexpr bool swizzled = along_k || sizeof(T) <= 2;
  static constexpr int pitch = extent;
  static constexpr int most_of_row = extent + 1, column_stride = 1;  ///< a row is in one piece
  static constexpr int stride_mn = along_k ? pitch : 1;
  static constexpr int stride_k = along_k ? 1 : pitch;
  static constexpr int size = rows * pitch;
  /// Rows after which all changes places as before.
  static constexpr int period = swizzled ? in_lines::period : 1;

  const T* data;

  KERAMOS_FORCEINLINE_FUNCTION wave_panel(const tiling::reading<T>& how, const T* d)
      : tiling::reading<T>(how), data(d) {}

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int mn, int k) {
    const int row = along_k ? mn : k, i = along_k ? k : mn;
    return swizzled ? in_lines::offset(row, i) : row * extent + i;
  }
  /// Which row, and which of its elements, lies `at` elements from the begin.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr auto element_at(int at) {
    static_assert(swizzled);
    return in_lines::element_at(at);
  }
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k) const { return data + offset(mn, k); }
  /// at(mn, k + i), where k is a multiple of `period` and i a constant.
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k, int i) const {
    if constexpr (along_k || !swizzled)
      return at(mn, k + i);
    else
      return in_lines::at(data, k, i, mn);
  }
};

}  // namespace keramos::detail::simt

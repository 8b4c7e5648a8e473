// How k-tiles lie in local memory for matrix units that load whole fragments by a pitch.
#pragma once

#include <keramos/base/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Elements from row to row of such a panel: 16 bytes more than a row has, so that rows stay aligned and do not all begin in
/// the same bank.
constexpr int pitch_of_panel(int element_bytes, int extent) { return extent + 16 / element_bytes; }

/// A k-tile of one operand in scratch: element (mn, k) is `data[offset(mn, k)]`, and nothing is swizzled.
template <class T, int MN, int K, tiling::direction Rows>
class pitched_panel : public tiling::reading<T> {
  static constexpr bool along_k = Rows == tiling::direction::k;
  static constexpr int extent = along_k ? K : MN;

 public:
  static constexpr bool swizzled = false;
  static constexpr int pitch = pitch_of_panel(sizeof(T), extent), period = 1;
  static constexpr int most_of_row = extent + 1, column_stride = 1;  ///< a row is in one piece
  static constexpr int stride_mn = along_k ? pitch : 1, stride_k = along_k ? 1 : pitch;
  static constexpr int size = (along_k ? MN : K) * pitch;

  const T* data;

  KERAMOS_FORCEINLINE_FUNCTION pitched_panel(const tiling::reading<T>& how, const T* d)
      : tiling::reading<T>(how), data(d) {}

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int mn, int k) { return mn * stride_mn + k * stride_k; }
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k) const { return data + offset(mn, k); }
};

}  // namespace keramos::detail::simt

// The layout of k-tiles in local memory for units whose operands threads load themselves: rows along m and n, or along k.
#pragma once

#include <keramos/base/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Elements of padding behind each row in scratch: keeps 16-byte alignment, and spreads over all banks
/// both the writes of an operand that is transposed on its way (8 k of 4 rows a warp) and the reads of
/// matrix fragments (8 rows of 4 k, or 4 rows of 8 mn, of doubles; half as many of complex ones).
constexpr int pad(int element_bytes) { return element_bytes < 16 ? 4 : 2; }

/// The layout of a panel's rows in scratch, whose banks know bytes and no types.
///
/// Rows of 8 or 16 elements of 8 bytes along k need no padding: their quarters of 32 bytes change places from row to row
/// instead, which spreads a fragment's 4 rows of 4 k over all banks, and 16-byte copies over them too. Of elements of 16 bytes
/// the two halves of each 128 bytes change places, in every other row.
///
/// Of elements of one or two bytes it is runs of 16 bytes that change places, so that matrix units read any eight
/// neighbouring rows, and copies write whole lines, from all banks at once.
struct panel_layout {
  int rows, pitch;  ///< elements from row to row
  bool swizzled;

  constexpr int size() const { return rows * pitch; }
};
constexpr panel_layout layout_of_panel(int element_bytes, int mn, int k, bool along_k) {
  const bool swizzled =
      element_bytes <= 2 || (along_k && (k == 8 || k == 16) && (element_bytes == 8 || element_bytes == 16));
  const int extent = along_k ? k : mn;
  return {along_k ? mn : k, swizzled ? extent : extent + pad(element_bytes), swizzled};
}

/// Rows of `Extent` elements whose runs of 16 bytes change places within each 128 bytes, in another way in each of eight lines.
template <class T, int Extent>
struct swizzled_rows {
  static constexpr int line = 128 / int(sizeof(T));  ///< elements that lie in different banks
  static constexpr int run_length = 16 / int(sizeof(T));
  static_assert(line % Extent == 0 || Extent % line == 0);
  /// Rows after which places are changed as before.
  static constexpr int period = Extent < line ? 8 * line / Extent : 8;

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int row, int i) {
    if constexpr (Extent >= line) return row * Extent + (i ^ row % 8 * run_length);
    const int at = row * Extent + i;
    return at ^ at / line % 8 * run_length;
  }
  /// Which row, and which of its elements, lies there: where `at` is offset(row, i).
  struct element {
    int row, i;
  };
  KERAMOS_FORCEINLINE_FUNCTION static constexpr element element_at(int at) {
    if constexpr (Extent >= line) return {at / Extent, at % Extent ^ at / Extent % 8 * run_length};
    at ^= at / line % 8 * run_length;
    return {at / Extent, at % Extent};
  }
  /// data + offset(first + row, i), where `first` is a multiple of the period and `row` a constant: all but one of eight XORs of i
  /// is an offset that the compiler knows.
  KERAMOS_FORCEINLINE_FUNCTION static const T* at(const T* data, int first, int row, int i) {
    if constexpr (Extent >= line) return data + (first * Extent + (i ^ row % 8 * run_length)) + row * Extent;
    const int swap = row * Extent / line % 8 * run_length;
    return data + (first * Extent + (i ^ swap % Extent)) + (row * Extent ^ swap / Extent * Extent);
  }
};

/// A k-tile of one operand in scratch: element (mn, k) is `data[offset(mn, k)]`. Rows of bytes lie in the order in which
/// they are read, eight at a time (warp_mma_short.hpp).
template <class T, int MN, int K, tiling::direction Rows>
class panel : public tiling::reading<T> {
  static constexpr bool along_k = Rows == tiling::direction::k, is_short = sizeof(T) <= 2;
  static constexpr int rows = along_k ? MN : K, extent = along_k ? K : MN;  ///< `extent` elements each
  static constexpr int line = 128 / int(sizeof(T));  ///< elements that lie in different banks
  using short_rows = swizzled_rows<T, is_short ? extent : line>;
  static constexpr panel_layout layout = layout_of_panel(sizeof(T), MN, K, along_k);

 public:
  static constexpr bool swizzled = layout.swizzled;
  static constexpr int pitch = layout.pitch;
  static constexpr int most_of_row = extent + 1, column_stride = 1;  ///< a row is in one piece
  static constexpr int stride_mn = along_k ? pitch : 1;
  static constexpr int stride_k = along_k ? 1 : pitch;
  static constexpr int size = layout.size();
  /// Rows after which all is swizzled, and ordered, as before.
  static constexpr int period = !swizzled                          ? 1
                                : !is_short                        ? 4
                                : sizeof(T) == 1 && extent >= line ? 16
                                                                   : short_rows::period;

  const T* data;

  KERAMOS_FORCEINLINE_FUNCTION panel(const tiling::reading<T>& how, const T* d)
      : tiling::reading<T>(how), data(d) {}

  KERAMOS_FORCEINLINE_FUNCTION static int offset(int mn, int k) {
    if constexpr (!is_short) {
      const int change = sizeof(T) == 16 ? mn & 1 : mn * K / line & (K / 4 - 1);
      return mn * stride_mn + (swizzled ? k ^ change * 4 : k * stride_k);
    } else {
      return short_rows::offset(place(along_k ? mn : k), along_k ? k : mn);
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k) const { return data + offset(mn, k); }
  /// at(mn, k + i), where k is a multiple of `period` and i a constant.
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k, int i) const {
    if constexpr (along_k || !is_short)
      return at(mn, k + i);
    else
      return short_rows::at(data, k, place(i), mn);
  }

 private:
  /// Which row of the panel holds row i: of each sixteen rows of bytes along k first every other one, of those along m or
  /// n first every other pair.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int place(int i) {
    if (sizeof(T) > 1 || rows % 16 != 0) return i;
    const int sixteens = i / 16 * 16;
    return along_k ? sixteens + i % 2 * 8 + i % 16 / 2 : sixteens + i / 2 % 2 * 8 + i % 16 / 4 * 2 + i % 2;
  }
};

template <class A, class B>
struct panel_pair {
  A a;
  B b;
};

}  // namespace keramos::detail::simt

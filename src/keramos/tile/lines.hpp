// An operand in global memory as warpgroups' tiles are in local memory, so that one copy of neighbouring bytes stages it.
#pragma once

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::tiling {

/// Lines of 128 bytes along k: of all rows the first, then of all rows the second, and so on. Runs of 16 bytes of a line are
/// swizzled, that is they change places from row to row (PTX ISA, "Shared Memory Matrix Layout", swizzling of 128 bytes).
template <class T>
struct lines {
  static constexpr int length = 128 / int(sizeof(T)), run_length = 16 / int(sizeof(T));  ///< elements

  index_t rows;

  /// Where element (mn, k) is, counted in elements.
  KERAMOS_FORCEINLINE_FUNCTION index_t offset(index_t mn, index_t k) const {
    return (k / length * rows + mn) * length + swizzled(int(mn % 8), int(k % length));
  }
  /// The place in its line of element k of a line of row mn.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int swizzled(int mn, int k) {
    return k ^ mn % 8 * run_length;
  }

  /// An operand of this layout: its strides are those from line to line.
  operand<T> as_operand(const T* data, const reading<T>& how) const {
    return {data, length, rows * length, how};
  }
};

}  // namespace keramos::tiling

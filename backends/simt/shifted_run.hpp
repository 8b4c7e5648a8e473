// Copies of short elements that begin anywhere: 16 bytes at a time, of which memory gives only those that begin at multiples of
// 16.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::backend::simt {

/// What of a matrix may be read around the elements of a tile's row.
struct row_bounds {
  index_t length;  ///< elements of the row that are to be read, from the tile's first column on
  index_t before;  ///< elements of the row before the tile's first column
  index_t stride;  ///< from element to element of a row
  /// Where all of the matrix is, if its rows follow each other without gaps; else nothing is there.
  std::uintptr_t begin = ~std::uintptr_t(0), end = 0;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION void rows_follow(const T* first, const T* last) {
    begin = reinterpret_cast<std::uintptr_t>(first), end = reinterpret_cast<std::uintptr_t>(last);
  }
};

/// 16 bytes of short elements that begin anywhere in global memory, on their way to local memory. They lie in two runs of 16
/// bytes that can be loaded, whose words are shifted. Where elements of the matrix do not fill such a run, they are loaded one by
/// one.
template <class T>
class shifted_run {
  static constexpr int size = int(sizeof(T)), count = 16 / size;
  using bits = std::conditional_t<size == 1, std::uint8_t, std::uint16_t>;
  static_assert(sizeof(T) == sizeof(bits));
  struct [[gnu::may_alias]] alignas(16) run {
    unsigned word[4];
  };

  run low_{}, high_{};
  int shift_ = 0, there_ = 0;  // bytes

 public:
  /// Begins to load elements of a row from `column` of the tile on, of which the first is at `global`.
  KERAMOS_FORCEINLINE_FUNCTION void load(const T* global, index_t column, const row_bounds& bounds) {
    const auto address = reinterpret_cast<std::uintptr_t>(global);
    const int shift = int(address % 16);
    const std::uintptr_t low = address - shift;
    const index_t left = (bounds.length - column) * size;  // bytes, from global on
    there_ = left < 16 ? int(left) : 16;
    const bool two = shift + there_ > 16;
    const bool begins_inside = (bounds.before + column) * size >= shift || low >= bounds.begin;
    const bool ends_inside = left + shift >= (two ? 32 : 16) || low + (two ? 32 : 16) <= bounds.end;
    if (begins_inside && ends_inside && bounds.stride == 1) {
      const auto* runs = reinterpret_cast<const run*>(low);
      shift_ = shift;
      low_ = runs[0];
      if (two) high_ = runs[1];
    } else {
      bits element[count];
      KERAMOS_UNROLL
      for (int i = 0; i < count; ++i)
        element[i] = i * size < there_ ? bits_of(global[i * bounds.stride]) : bits(0);
      KERAMOS_UNROLL
      for (int i = 0; i < count; ++i) low_.word[i * size / 4] |= unsigned(element[i]) << i * size % 4 * 8;
    }
  }
  /// Stores them, and zeros for what is not there.
  KERAMOS_FORCEINLINE_FUNCTION void store(T* local) const {
    const unsigned word[8] = {low_.word[0],  low_.word[1],  low_.word[2],  low_.word[3],
                              high_.word[0], high_.word[1], high_.word[2], high_.word[3]};
    unsigned by_two[6], by_one[5];
    KERAMOS_UNROLL
    for (int i = 0; i < 6; ++i) by_two[i] = (shift_ & 8) != 0 ? word[i + 2] : word[i];
    KERAMOS_UNROLL
    for (int i = 0; i < 5; ++i) by_one[i] = (shift_ & 4) != 0 ? by_two[i + 1] : by_two[i];
    run shifted;
    KERAMOS_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int bytes = there_ - 4 * i;
      const unsigned mask = bytes >= 4 ? ~0u : bytes > 0 ? (1u << 8 * bytes) - 1 : 0;
      shifted.word[i] = words_from(by_one[i], by_one[i + 1], shift_ % 4 * 8) & mask;
    }
    *reinterpret_cast<run*>(local) = shifted;
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static bits bits_of(const T& x) {
    bits b;
    ::memcpy(&b, &x, sizeof(b));
    return b;
  }
  KERAMOS_FORCEINLINE_FUNCTION static unsigned words_from(unsigned low, unsigned high, int bits) {
#if defined(__CUDA_ARCH__)
    return __funnelshift_r(low, high, bits);
#else
    return unsigned((std::uint64_t(high) << 32 | low) >> bits);
#endif
  }
};

}  // namespace keramos::backend::simt

// Packing: rows of A or columns of B in panels of `Width`, element (i, p) at `p * Width + i`, whatever
// their strides were. Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/host/vector.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// The first Columns of `lanes` rows, transposed on their way: element (i, p) goes to `p * step + i`. The
/// elements of a row lie side by side along k, and are read a cache line at a time: with a power of two as
/// leading dimension all rows fall into one set of the cache, which would lose them before their next
/// element is due.
template <class T, int Columns>
inline void pack_transposed(T* to, std::int64_t step, const T* from, std::int64_t stride_mn, int count,
                            int k) {
  using v = simd<T>;
  typename v::vector block[v::lanes];
  for (int p = 0; p < k; p += v::lanes, to += v::lanes * step, from += v::lanes) {
    const int here = k - p < v::lanes ? k - p : v::lanes;
    if (here == v::lanes && count >= Columns) {
#pragma GCC unroll 16
      for (int i = 0; i < v::lanes; ++i)
        block[i] = i < Columns ? v::load(from + i * stride_mn) : typename v::vector{};
    } else {
      const typename v::first lanes(here);
#pragma GCC unroll 16
      for (int i = 0; i < v::lanes; ++i)
        block[i] = i < Columns && i < count ? lanes.load(from + i * stride_mn) : typename v::vector{};
    }
    v::transpose(block);
#pragma GCC unroll 16
    for (int l = 0; l < v::lanes; ++l)
      if (l < here) v::template store_first<Columns>(to + l * step, block[l]);
  }
}

/// Lays `width` rows out so that element (i, p) is at `p * width + i`; rows from `count` on are zeros.
template <class T>
inline void pack_rows(T* to, int width, const T* from, std::int64_t stride_mn, std::int64_t stride_k,
                      int count, int k) {
  for (int p = 0; p < k; ++p)
    for (int i = 0; i < width; ++i) to[p * width + i] = i < count ? from[i * stride_mn + p * stride_k] : T(0);
}

/// One panel of `count` <= Width rows.
template <class T, int Width>
inline void pack_panel(T* to, const T* from, std::int64_t stride_mn, std::int64_t stride_k, int count,
                       int k) {
  using v = simd<T>;
  constexpr int whole = Width / v::lanes, rest = Width % v::lanes;
  if (stride_k == 1) {
#pragma GCC unroll 4
    for (int i = 0; i < whole * v::lanes; i += v::lanes)
      pack_transposed<T, v::lanes>(to + i, Width, from + i * stride_mn, stride_mn, count - i, k);
    if constexpr (rest > 0) {
      constexpr int i = whole * v::lanes;
      pack_transposed<T, rest>(to + i, Width, from + i * stride_mn, stride_mn, count - i, k);
    }
  } else {
    pack_rows(to, Width, from, stride_mn, stride_k, count, k);
  }
}

/// Some rows of memory at a time, through all panels: a panel's part of a row, read down a whole k-tile, is a walk
/// that no prefetcher follows.
template <class T, int Width>
inline void pack_along_mn(T* panels, const T* from, std::int64_t stride_k, int mn, int k) {
  constexpr int rows = 16;
  for (int p0 = 0; p0 < k; p0 += rows) {
    const int end = k - p0 < rows ? k : p0 + rows;
    int i = 0;
    for (; i + Width <= mn; i += Width)
      for (int p = p0; p < end; ++p)
        std::memcpy(panels + std::int64_t(i) * k + p * Width, from + i + p * stride_k, Width * sizeof(T));
    if (i < mn)
      pack_rows(panels + std::int64_t(i) * k + p0 * Width, Width, from + i + p0 * stride_k, 1, stride_k,
                mn - i, end - p0);
  }
}

/// A packed number of type T: an element, or the bits of Group neighbours along k, the first lowest. Behind the last of `left`
/// are zeros.
template <class T, int Group, class From>
inline T packed_number(const From* from, std::int64_t stride_k, int left) {
  if constexpr (Group == 1) {
    return static_cast<T>(*from);
  } else {
    static_assert(Group * sizeof(From) == sizeof(T) && sizeof(T) == 4);
    std::uint32_t bits = 0;
    for (int g = 0; g < Group; ++g)
      if (g < left) bits |= std::uint32_t(from[g * stride_k].bits) << (32 / Group * g);
    return __builtin_bit_cast(T, bits);
  }
}

/// One panel of elements that run along k and of which a packed number is not just one: they are converted some columns at a
/// time, into the first-level cache, and transposed from there.
template <class From, class T, int Width, int Group>
inline void pack_converted(T* to, const From* from, std::int64_t stride_mn, int count, int k) {
  constexpr int depth = 64;
  alignas(64) T rows[Width * depth];
  for (int k0 = 0; k0 < k; k0 += depth * Group, to += depth * Width) {
    const int here = k - k0 < depth * Group ? k - k0 : depth * Group, whole = here / Group;
    for (int i = 0; i < count; ++i) {
      const From* const row = from + i * stride_mn + k0;
      for (int p = 0; p < whole; ++p)
        rows[i * depth + p] = packed_number<T, Group>(row + p * Group, 1, Group);
      if (whole * Group < here)
        rows[i * depth + whole] = packed_number<T, Group>(row + whole * Group, 1, here - whole * Group);
    }
    pack_panel<T, Width>(to, rows, depth, 1, count, (here + Group - 1) / Group);
  }
}

/// The same of elements with any other strides: rows of memory for all panels, as in pack_along_mn.
template <class From, class T, int Width, int Group>
inline void pack_converted_rows(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k,
                                int mn, int k) {
  const int numbers = (k + Group - 1) / Group;
  const auto pack_row = [&](T* to, const From* row, std::int64_t stride, int count, int left) {
    for (int i = 0; i < Width; ++i)
      to[i] = i < count ? packed_number<T, Group>(row + i * stride, stride_k, left) : T(0);
  };
  constexpr int rows = 16;
  for (int p0 = 0; p0 < numbers; p0 += rows) {
    const int end = numbers - p0 < rows ? numbers : p0 + rows;
    for (int i = 0; i < mn; i += Width) {
      const int count = mn - i < Width ? mn - i : Width;
      for (int p = p0; p < end; ++p) {
        T* const to = panels + std::int64_t(i) * numbers + p * Width;
        const From* const row = from + i * stride_mn + std::int64_t(p) * Group * stride_k;
        const int left = k - p * Group;
        if (stride_mn == 1 && count == Width && left >= Group)
          pack_row(to, row, 1, Width, Group);
        else
          pack_row(to, row, stride_mn, count, left);
      }
    }
  }
}

template <class From, class T, int Width, int Group>
inline void pack(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k, int mn, int k) {
  constexpr bool converts = !std::is_same_v<From, T>;
  if constexpr (converts) {
    if (stride_k != 1)
      return pack_converted_rows<From, T, Width, Group>(panels, from, stride_mn, stride_k, mn, k);
  } else {
    if (stride_mn == 1 && stride_k != 1) return pack_along_mn<T, Width>(panels, from, stride_k, mn, k);
  }
  const int numbers = (k + Group - 1) / Group;
  for (int i = 0; i < mn; i += Width) {
    const int count = mn - i < Width ? mn - i : Width;
    T* const to = panels + std::int64_t(i) * numbers;
    if constexpr (converts)
      pack_converted<From, T, Width, Group>(to, from + i * stride_mn, stride_mn, count, k);
    else
      pack_panel<T, Width>(to, from + i * stride_mn, stride_mn, stride_k, count, k);
  }
}

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

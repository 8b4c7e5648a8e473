// Packing: rows of A or columns of B in panels of `Width`, element (i, p) at `p * Width + i`, whatever
// their strides were. Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/host/products.hpp>
#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/host/pack_numbers.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// Asks the second-level cache for `bytes` that lie `offset` elements behind `from`, whether they are an operand's or not: many
/// rows begin a new walk through memory, which prefetchers would follow too late. In the first-level cache rows a power of two
/// apart would drive each other out.
template <class T>
inline void ask_for(const T* from, std::int64_t offset, int bytes) {
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(from) + std::uintptr_t(offset) * sizeof(T);
  for (int line = 0; line < bytes; line += 64)
    __builtin_prefetch(reinterpret_cast<const void*>(first + line), 0, 2);
}

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
    if (p % (64 / int(sizeof(T))) == 0) {
#pragma GCC unroll 16
      for (int i = 0; i < Columns; ++i) ask_for(from, (v::lanes + i) * stride_mn, 64);
    }
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

/// Rows of `rows` x `cols` elements become columns: element (i, j) goes to `j * step + i`. What `step` has room for behind a
/// column is filled, up to a vector's end.
template <class T>
inline void transpose_block(T* to, std::int64_t step, const T* from, std::int64_t stride, int rows,
                            int cols) {
  if constexpr (std::is_arithmetic_v<T>) {
    constexpr int lanes = simd<T>::lanes;
    for (int i = 0; i < rows; i += lanes)
      pack_transposed<T, lanes>(to + i, step, from + i * stride, stride, rows - i, cols);
  } else {
    for (int j = 0; j < cols; ++j)
      for (int i = 0; i < rows; ++i) to[j * step + i] = from[i * stride + j];
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
      for (int p = p0; p < end; ++p) {
        ask_for(from, i + (p + rows) * stride_k, Width * sizeof(T));
        std::memcpy(panels + std::int64_t(i) * k + p * Width, from + i + p * stride_k, Width * sizeof(T));
      }
    if (i < mn)
      pack_rows(panels + std::int64_t(i) * k + p0 * Width, Width, from + i + p0 * stride_k, 1, stride_k,
                mn - i, end - p0);
  }
}

/// One panel of elements that run along k and of which a packed number is not just one: they are converted some columns at a
/// time, into the first-level cache, and transposed from there.
template <class From, class T, int Width, class Code>
inline void pack_converted(T* to, const From* from, std::int64_t stride_mn, int count, int k, bool kind) {
  constexpr int depth = 64, group = Code::group;
  alignas(64) T rows[Width * depth];
  for (int k0 = 0; k0 < k; k0 += depth * group, to += depth * Width) {
    const int here = k - k0 < depth * group ? k - k0 : depth * group, whole = here / group;
    for (int i = 0; i < count; ++i) {
      const From* const row = from + i * stride_mn + k0;
      for (int p = 0; p < whole; ++p)
        rows[i * depth + p] = Code::template number<T>(row + p * group, 1, group, kind);
      if (whole * group < here)
        rows[i * depth + whole] =
            Code::template number<T>(row + whole * group, 1, here - whole * group, kind);
    }
    pack_panel<T, Width>(to, rows, depth, 1, count, (here + group - 1) / group);
  }
}

/// The same of elements with any other strides: rows of memory for all panels, as in pack_along_mn, which are `numbers` long and
/// `step` numbers apart.
template <class From, class T, int Width, class Code>
inline void pack_converted_rows(T* panels, std::int64_t step, const From* from, std::int64_t stride_mn,
                                std::int64_t stride_k, int mn, int k, bool kind) {
  constexpr int group = Code::group;
  const int numbers = (k + group - 1) / group;
  const auto pack_row = [&](T* to, const From* row, std::int64_t stride, int count, int left) {
    for (int i = 0; i < Width; ++i)
      to[i] = i < count ? Code::template number<T>(row + i * stride, stride_k, left, kind) : T(0);
  };
  constexpr int rows = 16;
  for (int p0 = 0; p0 < numbers; p0 += rows) {
    const int end = numbers - p0 < rows ? numbers : p0 + rows;
    for (int i = 0; i < mn; i += Width) {
      const int count = mn - i < Width ? mn - i : Width;
      for (int p = p0; p < end; ++p) {
        T* const to = panels + i / Width * step + p * Width;
        const From* const row = from + i * stride_mn + std::int64_t(p) * group * stride_k;
        const int left = k - p * group;
        if (stride_mn == 1 && count == Width && left >= group)
          pack_row(to, row, 1, Width, group);
        else
          pack_row(to, row, stride_mn, count, left);
      }
    }
  }
}

/// Panels one after the other.
template <class From, class T, int Width, class Code, int Corrections>
inline void pack_panels(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                        int k, bool kind) {
  constexpr bool converts = !std::is_same_v<From, T>;
  const int numbers = (k + Code::group - 1) / Code::group;
  const std::int64_t step = std::int64_t(Width) * (numbers + Corrections);
  if constexpr (!converts) {
    static_assert(Corrections == 0);
    if (stride_mn == 1 && stride_k != 1) return pack_along_mn<T, Width>(panels, from, stride_k, mn, k);
  } else if (stride_k != 1) {
    pack_converted_rows<From, T, Width, Code>(panels, step, from, stride_mn, stride_k, mn, k, kind);
  }
  for (int i = 0; i < mn; i += Width, panels += step) {
    const int count = mn - i < Width ? mn - i : Width;
    if constexpr (!converts)
      pack_panel<T, Width>(panels, from + i * stride_mn, stride_mn, stride_k, count, k);
    else if (stride_k == 1)
      pack_converted<From, T, Width, Code>(panels, from + i * stride_mn, stride_mn, count, k, kind);
    if constexpr (Corrections > 0) Code::template add_corrections<Width>(panels, numbers, k, kind);
  }
}

/// Panels of Width rows. `Code` says what packed numbers are, and how many corrections stand behind those of a panel.
template <class From, class T, int Width, class Code, int Corrections = 0>
inline void pack(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k, int mn, int k,
                 bool kind) {
  if constexpr (packs_numbers<From, Code>)
    pack_numbers<From, T, Width, Code, 1, Corrections>(panels, from, stride_mn, stride_k, mn, k, kind);
  else
    pack_panels<From, T, Width, Code, Corrections>(panels, from, stride_mn, stride_k, mn, k, kind);
}

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

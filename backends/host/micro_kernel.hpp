// The host's micro-kernel and packing, written once over GCC/Clang vector extensions; their width and
// number of registers follow the compiler's flags. Structure: Goto & van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication" (2008); Van Zee & van de Geijn, "BLIS" (2015).
//
// Compiled several times with different flags (kernels.cpp): everything is in a namespace named after the
// instruction set, and nothing of the standard library is instantiated.
#pragma once

#include <cstdint>
#include <cstring>

#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/host/small_kernel.hpp>
#include <keramos/backends/host/tuning_table.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA {

#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, vector_registers = 16;
#elif defined(__aarch64__)
inline constexpr int vector_bytes = 16, vector_registers = 32;
#else
inline constexpr int vector_bytes = 16, vector_registers = 16;
#endif

template <class T>
struct micro_kernel {
  static constexpr tuning_row tile = tuning_for(vector_bytes, vector_registers, sizeof(T));
  static constexpr int lanes = vector_bytes / int(sizeof(T));
  static constexpr int vectors = tile.nr_vectors;
  static constexpr int mr = tile.mr;
  static constexpr int nr = vectors * lanes;
  typedef T vector __attribute__((vector_size(vector_bytes)));
  typedef T unaligned __attribute__((vector_size(vector_bytes), aligned(alignof(T)), may_alias));

  static vector load(const T* p) { return *reinterpret_cast<const vector*>(p); }
  static void store(T* p, vector v) { *reinterpret_cast<vector*>(p) = v; }

  /// One micro tile: mr x nr accumulators stay in registers over all of k.
  static void multiply_tile(T* acc, const T* a, const T* b, int k, bool first) {
    vector c[mr][vectors];
#pragma GCC unroll 32
    for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) c[i][v] = vector{};
    for (int p = 0; p < k; ++p, a += mr, b += nr) {
      vector row[vectors];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) row[v] = load(b + v * lanes);
#pragma GCC unroll 32
      for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) c[i][v] += a[i] * row[v];
    }
    if (first) {
#pragma GCC unroll 32
      for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v) store(acc + i * nr + v * lanes, c[i][v]);
    } else {
#pragma GCC unroll 32
      for (int i = 0; i < mr; ++i)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; ++v)
          store(acc + i * nr + v * lanes, load(acc + i * nr + v * lanes) + c[i][v]);
    }
  }

  /// A panel of A stays in the first-level cache while B's panels stream by.
  static void multiply(T* acc, const T* a, const T* b, int panels_m, int panels_n, int k, bool first) {
    for (int i = 0; i < panels_m; ++i)
      for (int j = 0; j < panels_n; ++j)
        multiply_tile(acc + (std::int64_t(i) * panels_n + j) * mr * nr, a + std::int64_t(i) * k * mr,
                      b + std::int64_t(j) * k * nr, k, first);
  }

  /// One panel of `count` <= Width rows.
  template <int Width>
  static void pack_panel(T* to, const T* from, std::int64_t stride_mn, std::int64_t stride_k, int count,
                         int k) {
    if (count < Width) {
      for (int p = 0; p < k; ++p)
        for (int i = 0; i < Width; ++i)
          to[p * Width + i] = i < count ? from[i * stride_mn + p * stride_k] : T(0);
    } else if (stride_mn == 1) {
      for (int p = 0; p < k; ++p) std::memcpy(to + p * Width, from + p * stride_k, Width * sizeof(T));
    } else {
      // A cache line of each row at a time: with a power of two as leading dimension all rows fall
      // into one set of the cache, which would lose them before their next element is due.
      constexpr int line = 64 / int(sizeof(T));
      T lines[Width][line];
      int p0 = 0;
      for (; stride_k == 1 && p0 + line <= k; p0 += line) {
        for (int i = 0; i < Width; ++i) std::memcpy(lines[i], from + i * stride_mn + p0, sizeof(lines[i]));
        for (int p = 0; p < line; ++p)
          for (int i = 0; i < Width; ++i) to[(p0 + p) * Width + i] = lines[i][p];
      }
      for (; p0 < k; ++p0)
        for (int i = 0; i < Width; ++i) to[p0 * Width + i] = from[i * stride_mn + p0 * stride_k];
    }
  }

  template <int Width>
  static void pack(T* panels, const T* from, std::int64_t stride_mn, std::int64_t stride_k, int mn, int k) {
    for (int i = 0; i < mn; i += Width)
      pack_panel<Width>(panels + std::int64_t(i) * k, from + i * stride_mn, stride_mn, stride_k,
                        mn - i < Width ? mn - i : Width, k);
  }

  static void write(T* c, std::int64_t row_stride, std::int64_t col_stride, const T* acc, int rows, int cols,
                    T alpha, T beta) {
    const int panels_n = (cols + nr - 1) / nr;
    for (int i0 = 0; i0 < rows; i0 += mr)
      for (int j0 = 0; j0 < cols; j0 += nr) {
        const T* tile = acc + (std::int64_t(i0 / mr) * panels_n + j0 / nr) * mr * nr;
        const int count = cols - j0 < nr ? cols - j0 : nr;
        for (int i = 0; i < mr && i0 + i < rows; ++i) {
          T* row = c + (i0 + i) * row_stride + j0 * col_stride;
          const T* from = tile + i * nr;
          if (col_stride == 1 && count == nr) {
            for (int v = 0; v < nr; v += lanes) {
              vector out = alpha * load(from + v);
              unaligned* to = reinterpret_cast<unaligned*>(row + v);
              if (beta != T(0)) out += beta * vector(*to);
              *to = unaligned(out);
            }
          } else {
            for (int j = 0; j < count; ++j) {
              T& to = row[j * col_stride];
              to = beta == T(0) ? alpha * from[j] : alpha * from[j] + beta * to;
            }
          }
        }
      }
  }

  static constexpr kernel_table<T> table(const char* isa) {
    return {isa,
            mr,
            nr,
            tile.mc,
            tile.nc,
            tile.kc,
            pack<mr>,
            pack<nr>,
            multiply,
            write,
            small_kernel<T, vector_bytes, vector_registers>::multiply};
  }
};

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA

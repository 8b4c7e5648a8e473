// The host's micro-kernel (its packing is in pack.hpp), written once over GCC/Clang vector extensions; their width and
// number of registers follow the compiler's flags. Structure: Goto & van de Geijn, "Anatomy of
// High-Performance Matrix Multiplication" (2008); Van Zee & van de Geijn, "BLIS" (2015).
//
// Compiled several times with different flags (src/gemm/host_kernels.cpp): everything is in a namespace named after the
// instruction set, and nothing of the standard library is instantiated.
#pragma once

#include <cstdint>

#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/host/dot_kernel.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/request.hpp>
#include <keramos/gemm/host/unpacked_kernel.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

/// `Tile` is the register tile, vector_tile.hpp's or matrix_tile.hpp's. `WritesColumns` is for types that planners cannot
/// transpose, so that C's columns may run through memory.
template <class Tile, bool WritesColumns = false>
class micro_kernel {
  using T = typename Tile::number;
  static constexpr int mr = Tile::mr, nr = Tile::nr, lanes = simd<T>::lanes;

  /// A's panels stream by from the second-level cache, once for each panel of B. B's next one is on its way there
  /// meanwhile: unasked for, it costs 5 (f32) to 12 % (f64) of the speed on Zen 5.
  static void multiply(const block_product<T>& s) {
    const int panels_m = (s.rows + mr - 1) / mr, panels_n = (s.cols + nr - 1) / nr;
    [[maybe_unused]] const typename Tile::scope scope;
    alignas(64) T only[mr * nr];  // sums that nothing follows and nothing went before
    for (int j = 0; j < panels_n; ++j) {
      const int cols = s.cols - j * nr < nr ? s.cols - j * nr : nr;
      for (int i = 0; i < panels_m; ++i) {
        const bool alone = s.first && s.last;
        T* sums = alone ? only : s.sums + (std::int64_t(j) * panels_m + i) * mr * nr;
        const int rows = s.rows - i * mr < mr ? s.rows - i * mr : mr;
        T* const c = s.c ? s.c + std::int64_t(i) * mr * s.c_row_stride + std::int64_t(j) * nr * s.c_col_stride
                         : nullptr;
        if (s.last && c) {  // C and the sums so far arrive while the products are formed
          for (int r = 0; r < rows; ++r)
            for (int w = 0; w < nr; w += lanes) __builtin_prefetch(c + r * s.c_row_stride + w, 1);
        }
        if (!s.first) {
          for (int v = 0; v < mr * nr; v += 64 / int(sizeof(T))) __builtin_prefetch(sums + v, 1);
        }
        const T* const b = s.b + std::int64_t(j) * s.k * nr;
        const request next =
            j + 1 < panels_n ? Tile::part_of(b + std::int64_t(s.k) * nr, s.k, i, panels_m) : request{};
        Tile::tile_of(cols, rows, s.kind_a, s.kind_b)(sums, s.a + std::int64_t(i) * s.k * mr, b, s.k, s.first,
                                                      next);
        if (!s.last) continue;
        if (s.write)
          s.write(s.writer, sums, i * mr, j * nr, rows, cols);
        else
          write_tile(c, s, sums, rows, cols);
      }
    }
  }

  /// One after the other: a line of the cache would be gone before a row comes back to it.
  static void write_columns(T* c, const block_product<T>& s, const T* sums, int rows, int cols) {
    for (int j = 0; j < cols; ++j, ++sums, c += s.c_col_stride)
      for (int i = 0; i < rows; ++i) {
        const T sum = s.alpha * sums[i * nr];
        c[i] = s.beta == T(0) ? sum : sum + s.beta * c[i];
      }
  }

  static void write_tile(T* c, const block_product<T>& s, const T* sums, int rows, int cols) {
    using v = simd<T>;
    if constexpr (WritesColumns)
      if (s.c_row_stride == 1 && s.c_col_stride != 1) return write_columns(c, s, sums, rows, cols);
    for (int i = 0; i < rows; ++i, c += s.c_row_stride, sums += nr) {
      if (s.c_col_stride == 1) {
#pragma GCC unroll 4
        for (int j = 0; j < nr; j += lanes) {
          if (j >= cols) break;
          typename v::vector out = s.alpha * v::load(sums + j);
          if (cols - j >= lanes) {
            if (s.beta != T(0)) out += s.beta * v::load(c + j);
            v::store(c + j, out);
          } else {
            const typename v::first left(cols - j);
            if (s.beta != T(0)) out += s.beta * left.load(c + j);
            left.store(c + j, out);
          }
        }
      } else {
        for (int j = 0; j < cols; ++j) {
          T& to = c[j * s.c_col_stride];
          to = s.beta == T(0) ? s.alpha * sums[j] : s.alpha * sums[j] + s.beta * to;
        }
      }
    }
  }

 public:
  template <class Types>
  static constexpr kernel_table<Types> table(const char* isa) {
    kernel_table<Types> kernels{.isa = isa,
                                .mr = mr,
                                .nr = nr,
                                .mc = Tile::tile.mc,
                                .nc = Tile::tile.nc,
                                .kc = Tile::tile.kc * Tile::group,
                                .whole_k = Tile::tile.whole_k * Tile::group,
                                .keeps_nc = Tile::keeps_nc,
                                .group = Tile::group,
                                .step = Tile::step,
                                .corrections = Tile::corrections,
                                .speed = Tile::speed,
                                .pack_a = Tile::template pack_a<typename Types::a>,
                                .pack_b = Tile::template pack_b<typename Types::b>,
                                .multiply = multiply};
    if constexpr (Types::uniform) {
      kernels.multiply_unpacked = unpacked_kernel<T>::multiply;
      kernels.lanes = lanes;
      kernels.vectors_of_step = unpacked_kernel<T>::vectors_of_step;
      kernels.transpose = transpose_block<T>;
      kernels.few_products = unpacked_kernel<T>::few_products;
      kernels.multiply_dots = dot_kernel<T>::multiply;
      kernels.dots = dot_kernel<T>::pays_up_to;
    }
    return kernels;
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

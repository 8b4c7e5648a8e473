// Products of complex numbers by the micro-kernel of real ones: packed, a complex A of m x k is a real one of 2m x k, whose
// rows are real and imaginary parts by turns, and B of k x n a real one of k x 2n. The real product has the four sums that a
// complex element of C is made of, as many products as the textbook's formula, in 2 x 2 neighbours; they are put together
// where a register tile is complete, conjugated as is asked for. (Van Zee and Smith, "Implementing High-Performance Complex
// Matrix Multiplication via the 3m and 4m Methods", ACM TOMS 44 (2017), discuss this and other ways.)
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/base/complex.hpp>
#include <keramos/gemm/host/complex_sums.hpp>
#include <keramos/gemm/host/complex_unpacked_kernel.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack.hpp>
#include <keramos/gemm/host/request.hpp>
#include <keramos/gemm/host/vector_tile.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

/// Panels of `Width` complex rows, element (i, p) at `p * Width + i`: numbers of two floats are copied as doubles. What runs
/// along k is read a cache line at a time, like pack_transposed does.
template <class Z, int Width>
inline void pack_complex(Z* panels, const Z* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                         int k, bool /*kind*/) {
  if constexpr (sizeof(Z) == sizeof(double)) {
    pack<double, double, Width, converted>(reinterpret_cast<double*>(panels),
                                           reinterpret_cast<const double*>(from), stride_mn, stride_k, mn, k,
                                           true);
    return;
  }
  if (stride_k != 1) {
    constexpr int rows = 16;  // of memory at a time, as in pack_along_mn
    for (int p0 = 0; p0 < k; p0 += rows)
      for (int i = 0; i < mn; i += Width)
        pack_rows(panels + std::int64_t(i) * k + p0 * Width, Width, from + i * stride_mn + p0 * stride_k,
                  stride_mn, stride_k, mn - i, k - p0 < rows ? k - p0 : rows);
    return;
  }
  constexpr int line = 64 / int(sizeof(Z));
  for (int i0 = 0; i0 < mn; i0 += Width, panels += std::int64_t(Width) * k) {
    const Z* const rows = from + i0 * stride_mn;
    const int count = mn - i0 < Width ? mn - i0 : Width;
    for (int p0 = 0; p0 < k; p0 += line) {
      const int end = k - p0 < line ? k : p0 + line;
      for (int i = 0; i < count; ++i)
        for (int p = p0; p < end; ++p) panels[p * Width + i] = rows[i * stride_mn + p];
      for (int i = count; i < Width; ++i)
        for (int p = p0; p < end; ++p) panels[p * Width + i] = Z(0);
    }
  }
}

template <class R>
class complex_kernel {
  using Z = complex<R>;
  using real = vector_tile<R>;
  using v = simd<R>;
  using vector = typename v::vector;
  static constexpr int lanes = v::lanes;
  static constexpr int mr = real::mr / 2, nr = real::nr / 2;
  static_assert(real::mr % 2 == 0 && lanes % 2 == 0 && mr * 2 == real::mr);

  /// From the real sums of a micro tile to complex ones in rows of nr, or to C with the last k-tile.
  static void finish_tile(const block_product<Z>& s, const complex_sums<R>& with, const R* tile, Z* sums,
                          Z* c, int rows, int cols) {
    for (int i = 0; i < rows; ++i, tile += 2 * real::nr)
      for (int j = 0; j < cols; j += lanes / 2) {
        vector sum = with.join(real::load(tile + 2 * j), real::load(tile + real::nr + 2 * j));
        R* const kept = reinterpret_cast<R*>(sums + i * nr + j);
        if (!s.first) sum += real::load(kept);
        if (c)
          with.write(c + i * s.c_row_stride + j * s.c_col_stride, s.c_col_stride, cols - j, sum);
        else
          real::store(kept, sum);
      }
  }

  static void multiply(const block_product<Z>& s) {
    const complex_sums<R> with(s);
    const int panels_m = (s.rows + mr - 1) / mr, panels_n = (s.cols + nr - 1) / nr;
    alignas(64) R tile[real::mr * real::nr];
    alignas(64) Z only[mr * nr];  // sums that nothing follows and nothing went before
    for (int j = 0; j < panels_n; ++j) {
      const int cols = s.cols - j * nr < nr ? s.cols - j * nr : nr;
      auto* const multiply_tile = real::tile_of(2 * cols);
      const R* const b = reinterpret_cast<const R*>(s.b + std::int64_t(j) * s.k * nr);
      for (int i = 0; i < panels_m; ++i) {
        const int rows = s.rows - i * mr < mr ? s.rows - i * mr : mr;
        Z* const sums = s.first && s.last ? only : s.sums + (std::int64_t(j) * panels_m + i) * mr * nr;
        Z* const c = s.last && !s.write
                         ? s.c + std::int64_t(i) * mr * s.c_row_stride + std::int64_t(j) * nr * s.c_col_stride
                         : nullptr;
        if (c) {  // C and the sums so far arrive while the products are formed
          for (int r = 0; r < rows; ++r)
            for (int w = 0; w < nr; w += 64 / int(sizeof(Z)))
              __builtin_prefetch(c + r * s.c_row_stride + w, 1);
        }
        if (!s.first) {
          for (int w = 0; w < mr * nr; w += 64 / int(sizeof(Z))) __builtin_prefetch(sums + w, 1);
        }
        const request next =
            j + 1 < panels_n ? real::part_of(b + std::int64_t(s.k) * real::nr, s.k, i, panels_m) : request{};
        const R* const a = reinterpret_cast<const R*>(s.a + std::int64_t(i) * s.k * mr);
        multiply_tile(tile, a, b, s.k, true, next);
        finish_tile(s, with, tile, sums, c, rows, cols);
        if (s.last && s.write) s.write(s.writer, sums, i * mr, j * nr, rows, cols);
      }
    }
  }

 public:
  template <class Types>
  static constexpr kernel_table<Types> table(const char* isa) {
    constexpr backend::host::tile_row tile = real::tile;
    return {.isa = isa,
            .mr = mr,
            .nr = nr,
            .mc = tile.mc / 2,
            .nc = tile.nc / 2,
            .kc = tile.kc,
            .whole_k = tile.kc,
            .keeps_nc = real::keeps_nc,
            .pack_a = pack_complex<Z, mr>,
            .pack_b = pack_complex<Z, nr>,
            .multiply = multiply,
            .multiply_unpacked = complex_unpacked_kernel<R>::multiply,
            .transpose = transpose_block<Z>,
            .few_products = complex_unpacked_kernel<R>::few_products};
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

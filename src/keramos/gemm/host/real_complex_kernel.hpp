// Products of a real A and a complex B by the micro-kernel of real ones: packed, B of k x n is a real matrix of k x 2n, whose
// columns are real and imaginary parts by turns, and the real product's sums are those of C's parts, as they lie in C. That is
// half of the arithmetic of complex numbers.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/base/complex.hpp>
#include <keramos/gemm/host/complex_kernel.hpp>
#include <keramos/gemm/host/complex_sums.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack.hpp>
#include <keramos/gemm/host/request.hpp>
#include <keramos/gemm/host/vector_tile.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

template <class R>
class real_complex_kernel {
  using Z = complex<R>;
  using real = vector_tile<R>;
  using vector = typename simd<R>::vector;
  static constexpr int lanes = simd<R>::lanes;
  static constexpr int mr = real::mr, nr = real::nr / 2;
  static_assert(lanes % 2 == 0);

  /// A's panels of real numbers take half of the memory that is there for complex ones.
  static void pack_real(Z* panels, const R* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                        int k, bool kind) {
    pack<R, R, mr, converted>(reinterpret_cast<R*>(panels), from, stride_mn, stride_k, mn, k, kind);
  }

  /// From the sums of a micro tile to C, some columns after the other: C's may run through memory, and a line of the cache
  /// would be gone before a row comes back to it.
  static void write_tile(const block_product<Z>& s, const complex_sums<R>& with, const R* sums, Z* c,
                         int rows, int cols) {
    for (int j = 0; j < cols; j += lanes / 2)
      for (int i = 0; i < rows; ++i)
        with.write(c + i * s.c_row_stride + j * s.c_col_stride, s.c_col_stride, cols - j,
                   with.of_real(real::load(sums + i * real::nr + 2 * j)));
  }

  static void multiply(const block_product<Z>& s) {
    const complex_sums<R> with(s);
    const int panels_m = (s.rows + mr - 1) / mr, panels_n = (s.cols + nr - 1) / nr;
    alignas(64) Z only[mr * nr];  // sums that nothing follows and nothing went before
    for (int j = 0; j < panels_n; ++j) {
      const int cols = s.cols - j * nr < nr ? s.cols - j * nr : nr;
      auto* const multiply_tile = real::tile_of(2 * cols);
      const R* const b = reinterpret_cast<const R*>(s.b + std::int64_t(j) * s.k * nr);
      for (int i = 0; i < panels_m; ++i) {
        const int rows = s.rows - i * mr < mr ? s.rows - i * mr : mr;
        Z* const sums = s.first && s.last ? only : s.sums + (std::int64_t(j) * panels_m + i) * mr * nr;
        R* const parts = reinterpret_cast<R*>(sums);
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
        const R* const a = reinterpret_cast<const R*>(s.a) + std::int64_t(i) * s.k * mr;
        multiply_tile(parts, a, b, s.k, s.first, next);
        if (c) write_tile(s, with, parts, c, rows, cols);
        if (s.last && s.write) {
          for (int v = 0; s.conjugate_b && v < mr * real::nr; v += lanes)
            real::store(parts + v, with.of_real(real::load(parts + v)));
          s.write(s.writer, sums, i * mr, j * nr, rows, cols);
        }
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
            .mc = tile.mc,
            .nc = tile.nc / 2,
            .kc = tile.kc,
            .whole_k = tile.kc,
            .keeps_nc = real::keeps_nc,
            .speed = 2,
            .pack_a = pack_real,
            .pack_b = pack_complex<Z, nr>,
            .multiply = multiply};
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

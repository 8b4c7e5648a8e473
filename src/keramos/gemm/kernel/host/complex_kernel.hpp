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
#include <keramos/gemm/kernel/host/kernel_table.hpp>
#include <keramos/gemm/kernel/host/micro_kernel.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

/// Panels of `Width` complex rows, element (i, p) at `p * Width + i`. What runs along k is read a cache line at a time, like
/// pack_transposed does.
template <class Z, int Width>
inline void pack_complex(Z* panels, const Z* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                         int k) {
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
  using real = micro_kernel<R>;
  using v = simd<R>;
  using vector = typename v::vector;
  static constexpr int lanes = v::lanes;
  static constexpr int mr = real::mr / 2, nr = real::nr / 2;
  static_assert(real::mr % 2 == 0 && lanes % 2 == 0 && mr * 2 == real::mr);

  /// Real and imaginary parts, which are neighbours, change places.
  static vector swapped(vector x) { return v::swap_pairs(x); }
  /// `even` in the lanes of real parts, `odd` in those of imaginary ones.
  static vector by_turns(R even, R odd) {
    vector x;
#pragma GCC unroll 16
    for (int l = 0; l < lanes; ++l) x[l] = l % 2 ? odd : even;
    return x;
  }

  /// What sums are put together with, and C from them.
  struct signs {
    vector of_real,
        of_imag;  ///< of A's real part times B, and of its imaginary part times B, whose parts changed places
    vector alpha_re, alpha_im, beta_re, beta_im;

    explicit signs(const block_product<Z>& s)
        : of_real(by_turns(1, s.conjugate_b ? -1 : 1)),
          of_imag(by_turns(s.conjugate_a != s.conjugate_b ? 1 : -1, s.conjugate_a ? -1 : 1)),
          alpha_re(by_turns(s.alpha.re, s.alpha.re)),
          alpha_im(by_turns(-s.alpha.im, s.alpha.im)),
          beta_re(by_turns(s.beta.re, s.beta.re)),
          beta_im(by_turns(-s.beta.im, s.beta.im)) {}
  };

  static vector product(vector re, vector im, vector x) { return re * x + im * swapped(x); }

  /// From the real sums of a micro tile to complex ones, or to C with the last k-tile.
  static void finish_tile(const block_product<Z>& s, const signs& with, const R* tile, Z* sums, Z* c,
                          int rows, int cols) {
    for (int i = 0; i < rows; ++i, tile += 2 * real::nr, sums += nr, c += s.c_row_stride)
      for (int j = 0; j < cols; j += lanes / 2) {
        const R* const at = tile + 2 * j;
        vector sum = with.of_real * real::load(at) + with.of_imag * swapped(real::load(at + real::nr));
        R* const kept = reinterpret_cast<R*>(sums + j);
        if (!s.first) sum += real::load(kept);
        if (!s.last)
          real::store(kept, sum);
        else
          write(s, with, sum, c + j * s.c_col_stride, cols - j);
      }
  }

  /// The first `count` of a vector of numbers, or all.
  static void write(const block_product<Z>& s, const signs& with, vector sum, Z* c, int count) {
    vector out = product(with.alpha_re, with.alpha_im, sum);
    const bool reads = s.beta != Z(0);
    if (s.c_col_stride == 1) {
      R* const to = reinterpret_cast<R*>(c);
      if (count >= lanes / 2) {
        if (reads) out += product(with.beta_re, with.beta_im, v::load(to));
        v::store(to, out);
      } else {
        const typename v::first left(2 * count);
        if (reads) out += product(with.beta_re, with.beta_im, left.load(to));
        left.store(to, out);
      }
    } else {
      for (int j = 0; j < count && j < lanes / 2; ++j) {
        Z& to = c[j * s.c_col_stride];
        const Z z(out[2 * j], out[2 * j + 1]);
        to = reads ? z + s.beta * to : z;
      }
    }
  }

  static void multiply(const block_product<Z>& s) {
    const signs with(s);
    const int panels_m = (s.rows + mr - 1) / mr, panels_n = (s.cols + nr - 1) / nr;
    alignas(64) R tile[real::mr * real::nr];
    for (int j = 0; j < panels_n; ++j) {
      const int cols = s.cols - j * nr < nr ? s.cols - j * nr : nr;
      auto* const multiply_tile = real::tile_of(2 * cols);
      const R* const b = reinterpret_cast<const R*>(s.b + std::int64_t(j) * s.k * nr);
      for (int i = 0; i < panels_m; ++i) {
        const int rows = s.rows - i * mr < mr ? s.rows - i * mr : mr;
        Z* const sums = s.sums + (std::int64_t(j) * panels_m + i) * mr * nr;
        Z* const c = s.last
                         ? s.c + std::int64_t(i) * mr * s.c_row_stride + std::int64_t(j) * nr * s.c_col_stride
                         : nullptr;
        if (s.last) {  // C and the sums so far arrive while the products are formed
          for (int r = 0; r < rows; ++r)
            for (int w = 0; w < nr; w += 64 / int(sizeof(Z)))
              __builtin_prefetch(c + r * s.c_row_stride + w, 1);
        }
        if (!s.first) {
          for (int w = 0; w < mr * nr; w += 64 / int(sizeof(Z))) __builtin_prefetch(sums + w, 1);
        }
        const typename real::request next =
            j + 1 < panels_n ? real::part_of(b + std::int64_t(s.k) * real::nr, s.k, i, panels_m)
                             : typename real::request{nullptr, 0};
        const R* const a = reinterpret_cast<const R*>(s.a + std::int64_t(i) * s.k * mr);
        multiply_tile(tile, a, b, s.k, true, next);
        finish_tile(s, with, tile, sums, c, rows, cols);
      }
    }
  }

 public:
  template <class Types>
  static constexpr kernel_table<Types> table(const char* isa) {
    constexpr backend::host::tile_row tile = real::tile;
    return {isa,
            mr,
            nr,
            tile.mc / 2,
            tile.nc / 2,
            tile.kc,
            pack_complex<Z, mr>,
            pack_complex<Z, nr>,
            multiply,
            nullptr,
            nullptr,
            0};
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

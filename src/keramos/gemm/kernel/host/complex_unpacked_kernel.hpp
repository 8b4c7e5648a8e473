// Small products of complex numbers, where they lie: unpacked_kernel.hpp's register tiles with two sets of sums, those of
// products by real parts of A and by imaginary ones (complex_sums.hpp).
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/gemm/kernel/host/complex_sums.hpp>
#include <keramos/gemm/kernel/host/kernel_table.hpp>
#include <keramos/gemm/kernel/host/pack.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

template <class R>
class complex_unpacked_kernel {
  using Z = complex<R>;
  using problem = unpacked_problem<Z>;
  using v = simd<R>;
  using vector = typename v::vector;
  using first = typename v::first;
  static constexpr int numbers = v::lanes / 2;  ///< of a vector

  /// Rows of the tallest tile: its sums, a row of B and a part of A fit in the registers.
  static constexpr int max_rows(int vectors) {
    const int fit = (vector_registers - vectors - 1) / (2 * vectors), most = vectors == 1 ? 8 : 6;
    return fit < most ? fit : most;
  }

  /// The first Vectors vectors of Rows rows of C, of which the last may be partly outside.
  template <int Vectors, int Rows, bool Masked>
  static void tile(const problem& s, const complex_sums<R>& sums, const Z* a, const Z* b, Z* c, int cols) {
    const first lanes(2 * (cols - (Vectors - 1) * numbers));
    vector re[Rows][Vectors], im[Rows][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int w = 0; w < Vectors; ++w) re[i][w] = im[i][w] = vector{};
    for (int p = 0; p < s.k; ++p, a += s.a_col_stride, b += s.b_row_stride) {
      vector row[Vectors];
#pragma GCC unroll 2
      for (int w = 0; w < Vectors; ++w) {
        const R* const from = reinterpret_cast<const R*>(b + w * numbers);
        row[w] = Masked && w == Vectors - 1 ? lanes.load(from) : v::load(from);
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const Z& z = a[i * s.a_row_stride];
#pragma GCC unroll 2
        for (int w = 0; w < Vectors; ++w) {
          re[i][w] += z.re * row[w];
          im[i][w] += z.im * row[w];
        }
      }
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int w = 0; w < Vectors; ++w)
        sums.write(c + i * s.c_row_stride + w * numbers, 1, Masked ? cols - w * numbers : numbers,
                   sums.join(re[i][w], im[i][w]));
  }

  using tile_function = void(const problem& s, const complex_sums<R>& sums, const Z* a, const Z* b, Z* c,
                             int cols);

  /// The function for `rows` (from 1).
  template <int Vectors, bool Masked>
  static tile_function* tile_of(int rows) {
    static constexpr auto of = []<int... Row>(std::integer_sequence<int, Row...>) {
      struct {
        tile_function* function[sizeof...(Row)];
      } table{{tile<Vectors, Row + 1, Masked>...}};
      return table;
    }
    (std::make_integer_sequence<int, max_rows(Vectors)>());
    return of.function[rows - 1];
  }

  /// All rows of the columns from j on that `Vectors` vectors cover, in tiles as equal in height as can be.
  template <int Vectors, bool Masked>
  static void columns(const problem& s, const complex_sums<R>& sums, int j) {
    constexpr int most = max_rows(Vectors);
    const int tiles = (s.m + most - 1) / most,
              cols = s.n - j < Vectors * numbers ? s.n - j : Vectors * numbers;
    for (int i = 0, t = 0; i < s.m; ++t) {
      const int rows = (s.m - i + tiles - t - 1) / (tiles - t);
      tile_of<Vectors, Masked>(rows)(s, sums, s.a + i * s.a_row_stride, s.b + j, s.c + i * s.c_row_stride + j,
                                     cols);
      i += rows;
    }
  }

  /// B's rows run through memory.
  static void multiply_rows(const problem& s) {
    const complex_sums<R> sums(s);
    int j = 0;
    for (; j + 2 * numbers <= s.n; j += 2 * numbers) columns<2, false>(s, sums, j);
    const int left = s.n - j;
    if (left > numbers)
      columns<2, true>(s, sums, j);
    else if (left == numbers)
      columns<1, false>(s, sums, j);
    else if (left > 0)
      columns<1, true>(s, sums, j);
  }

  static constexpr int packed = 32 * 1024 / int(sizeof(Z));  ///< numbers of B that are laid out at a time

  /// B's rows do not run through memory: blocks of columns are laid out so first, on the stack.
  static void multiply_columns(const problem& s) {
    alignas(64) Z block[packed];
    problem part = s;
    part.b = block;
    part.b_col_stride = 1;
    part.k = s.k < 256 ? s.k : 256;
    for (int k0 = 0; k0 < s.k; k0 += part.k) {
      if (s.k - k0 < part.k) part.k = s.k - k0;
      part.a = s.a + k0 * s.a_col_stride;
      if (k0 > 0) part.beta = Z(1);
      const int most = packed / part.k;
      for (int j = 0; j < s.n; j += most) {
        part.n = s.n - j < most ? s.n - j : most;
        part.b_row_stride = part.n;
        part.c = s.c + j;
        pack_rows(block, part.n, s.b + k0 * s.b_row_stride + j * s.b_col_stride, s.b_col_stride,
                  s.b_row_stride, part.n, part.k);
        multiply_rows(part);
      }
    }
  }

 public:
  /// C = alpha·A·B + beta·C; C's rows run through memory.
  static void multiply(const problem& s) { s.b_col_stride == 1 ? multiply_rows(s) : multiply_columns(s); }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

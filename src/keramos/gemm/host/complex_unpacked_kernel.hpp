// Small products of complex numbers, in place: unpacked_kernel.hpp's register tiles with two sets of sums, those of
// products by real parts of A and by imaginary ones (complex_sums.hpp).
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/gemm/host/complex_sums.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack.hpp>
#include <keramos/gemm/host/unpacked_blocks.hpp>

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

  static constexpr int widest = 2;  ///< vectors of the widest tile

  /// The first Vectors vectors of Rows rows of C, of which the last may be partly outside. `Ahead`: nothing, or asked_lines.
  template <int Vectors, int Rows, bool Masked, class... Ahead>
  static void tile(const problem& s, const complex_sums<R>& sums, const Z* a, const Z* b, Z* c, int cols,
                   const Ahead&... ahead) {
    const first lanes(2 * (cols - (Vectors - 1) * numbers));
    vector re[Rows][Vectors], im[Rows][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int w = 0; w < Vectors; ++w) re[i][w] = im[i][w] = vector{};
    for (int p = 0; p < s.k; ++p, a += s.a_col_stride, b += s.b_row_stride) {
      (ahead.ask(b), ...);
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

  template <class... Ahead>
  using tile_function = void(const problem& s, const complex_sums<R>& sums, const Z* a, const Z* b, Z* c,
                             int cols, const Ahead&...);

  /// The function for `rows` (from 1).
  template <int Vectors, bool Masked, class... Ahead>
  static tile_function<Ahead...>* tile_of(int rows) {
    static constexpr auto of = []<int... Row>(std::integer_sequence<int, Row...>) {
      struct {
        tile_function<Ahead...>* function[sizeof...(Row)];
      } table{{tile<Vectors, Row + 1, Masked, Ahead...>...}};
      return table;
    }
    (std::make_integer_sequence<int, max_rows(Vectors)>());
    return of.function[rows - 1];
  }

  /// All rows of the columns from j on that `Vectors` vectors cover, in tiles as equal in height as can be. `next_b`: as
  /// block_order's, which is asked for.
  template <int Vectors, bool Masked>
  static void columns(const problem& s, const complex_sums<R>& sums, int j, std::int64_t next_b) {
    constexpr int most = max_rows(Vectors);
    const int tiles = (s.m + most - 1) / most,
              cols = s.n - j < Vectors * numbers ? s.n - j : Vectors * numbers;
    for (int i = 0, t = 0; i < s.m; ++t) {
      const int rows = (s.m - i + tiles - t - 1) / (tiles - t);
      const Z *a = s.a + i * s.a_row_stride, *b = s.b + j;
      Z* const c = s.c + i * s.c_row_stride + j;
      if (Vectors == widest && !Masked && next_b != 0)
        tile_of<widest, false, asked_lines<Z>>(rows)(s, sums, a, b, c, cols, {next_b, cols, t, tiles});
      else
        tile_of<Vectors, Masked>(rows)(s, sums, a, b, c, cols);
      i += rows;
    }
  }

  /// B's rows run through memory.
  static void all_columns(const problem& s, const complex_sums<R>& sums, std::int64_t next_b = 0) {
    int j = 0;
    for (; j + widest * numbers <= s.n; j += widest * numbers) columns<widest, false>(s, sums, j, next_b);
    const int left = s.n - j;
    if (left > numbers)
      columns<widest, true>(s, sums, j, next_b);
    else if (left == numbers)
      columns<1, false>(s, sums, j, next_b);
    else if (left > 0)
      columns<1, true>(s, sums, j, next_b);
  }

  static void multiply_rows(const problem& s) {
    for_each_block_of_a(s, s.n > widest * numbers, multiply_block_of_a);
  }
  static void multiply_block_of_a(const problem& s) {
    const complex_sums<R> sums(s);
    if (s.k > model::few_columns_of_a || s.n <= widest * numbers) return all_columns(s, sums);
    // Little is done to an element of C, so what counts is that it is written row after row.
    for_each_rows(s, max_rows(widest), [&](const problem& part) { all_columns(part, sums); });
  }

  static constexpr int laid_out = model::bytes_laid_out / 2 / int(sizeof(Z));  ///< numbers of B at a time

 public:
  static constexpr int few_products = model::few_products;

  /// C = alpha·A·B + beta·C; C's rows run through memory. k in blocks, which add to C one after another, if B is too large to
  /// stay in the cache from one row to the next.
  static void multiply(const problem& s) {
    if (s.b_col_stride != 1) return multiply_columns(s);
    if (std::int64_t(s.k) * s.n * std::int64_t(sizeof(Z)) <= model::cached_bytes_of_b)
      return multiply_rows(s);
    for_each_block(
        s, model::rows_of_b_block, [](int k) { return block_columns<Z>(k, widest * numbers); },
        [](const problem& part, const block_order& order) {
          const bool by_rows = part.k <= model::few_columns_of_a;
          if (by_rows || !order.followed) fetch(part.b, part.b_row_stride, part.k, part.n);
          if (by_rows) return multiply_rows(part);
          all_columns(part, complex_sums<R>(part), order.next);
        });
  }

 private:
  /// B's rows do not run through memory: blocks of columns are laid out so first, on the stack.
  static void multiply_columns(const problem& s) {
    alignas(64) Z block[laid_out];
    for_each_block(
        s, 256, [](int k) { return laid_out / k; },
        [&](problem part, const block_order&) {
          pack_rows(block, part.n, part.b, s.b_col_stride, s.b_row_stride, part.n, part.k);
          part.b = block, part.b_row_stride = part.n, part.b_col_stride = 1;
          multiply_rows(part);
        });
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

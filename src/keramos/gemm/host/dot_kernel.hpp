// C of few rows or columns, as dot products: vectors run along k, along which the large operand lies, so
// that it is read once and in order. The small operand is laid out along k too, on the stack.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/host/kernel_table.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

template <class T>
class dot_kernel {
  using problem = unpacked_problem<T>;
  using v = simd<T>;
  using vector = typename v::vector;

  static constexpr int most_cols = 4;
  /// Rows of a tile that has `cols` columns: its sums, an element of each column and one of a row fit.
  static constexpr int most_rows(int cols) {
    const int fit = (vector_registers - 1) / cols - 1;
    return fit < 8 ? fit : 8;
  }
  static constexpr int k_block = 2048;

  /// Rows x Cols dot products; A's rows and B's columns run through memory.
  template <int Rows, int Cols>
  static void tile(const problem& s, const T* a, const T* b, T* c) {
    vector sums[Rows][Cols];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < Cols; ++j) sums[i][j] = vector{};
    const auto add = [&](const T* a, const T* b, const auto& load) __attribute__((always_inline)) {
      vector col[Cols];
#pragma GCC unroll 4
      for (int j = 0; j < Cols; ++j) col[j] = load(b + j * s.b_col_stride);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const vector row = load(a + i * s.a_row_stride);
#pragma GCC unroll 4
        for (int j = 0; j < Cols; ++j) sums[i][j] += row * col[j];
      }
    };
    int p = 0;
    for (; p + v::lanes <= s.k; p += v::lanes) add(a + p, b + p, [](const T* x) { return v::load(x); });
    if (p < s.k) {
      const typename v::first left(s.k - p);
      add(a + p, b + p, [&](const T* x) { return left.load(x); });
    }

    // `lanes` sums at a time: transposed, one addition of vectors adds a lane of each.
    T dots[(Rows * Cols + v::lanes - 1) / v::lanes * v::lanes];
#pragma GCC unroll 32
    for (int first = 0; first < Rows * Cols; first += v::lanes) {
      vector group[v::lanes];
#pragma GCC unroll 16
      for (int l = 0; l < v::lanes; ++l) {
        const int at = first + l;
        group[l] = at < Rows * Cols ? sums[at / Cols][at % Cols] : vector{};
      }
      v::transpose(group);
#pragma GCC unroll 16
      for (int l = 1; l < v::lanes; ++l) group[0] += group[l];
      v::store(dots + first, group[0]);
    }
    const T alpha = s.alpha, beta = s.beta;
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Cols; ++j) {
        T& to = c[i * s.c_row_stride + j * s.c_col_stride];
        to = beta == T(0) ? alpha * dots[i * Cols + j] : alpha * dots[i * Cols + j] + beta * to;
      }
  }

  using tile_function = void(const problem& s, const T* a, const T* b, T* c);

  /// The function for `rows` (from 1).
  template <int Cols>
  static tile_function* tile_of(int rows) {
    static constexpr auto of = []<int... Row>(std::integer_sequence<int, Row...>) {
      struct {
        tile_function* function[sizeof...(Row)];
      } table{{tile<Row + 1, Cols>...}};
      return table;
    }
    (std::make_integer_sequence<int, most_rows(Cols)>());
    return of.function[rows - 1];
  }

  /// All rows of `Cols` columns.
  template <int Cols>
  static void rows(const problem& s, int j) {
    constexpr int most = most_rows(Cols);
    for (int i = 0; i < s.m; i += most)
      tile_of<Cols>(s.m - i < most ? s.m - i : most)(s, s.a + i * s.a_row_stride, s.b + j * s.b_col_stride,
                                                     s.c + i * s.c_row_stride + j * s.c_col_stride);
  }

 public:
  /// C = alpha·A·B + beta·C for n up to most_cols if A's rows run through memory, or m if B's columns do.
  static void multiply(const problem& s) {
    const bool as_it_is = s.a_col_stride == 1 && s.n <= most_cols;
    const bool transposed = s.b_row_stride == 1 && s.m <= most_cols;
    if (transposed && (!as_it_is || s.m < s.n)) {  // Cᵀ = Bᵀ·Aᵀ
      multiply_columns({s.n, s.m, s.k, s.b, s.b_col_stride, s.b_row_stride, s.a, s.a_col_stride,
                        s.a_row_stride, s.c, s.c_col_stride, s.c_row_stride, s.alpha, s.beta});
    } else {
      multiply_columns(s);
    }
  }

  static constexpr int pays_up_to = v::lanes / 2 < most_cols ? v::lanes / 2 : most_cols;
  static_assert(pays_up_to <= most_cols);

 private:
  static void multiply_columns(const problem& s) {
    alignas(64) T columns[most_cols * k_block];
    problem part = s;
    part.k = s.k < k_block ? s.k : k_block;
    for (int k0 = 0; k0 < s.k; k0 += part.k) {
      if (s.k - k0 < part.k) part.k = s.k - k0;
      if (k0 > 0) part.beta = T(1);
      part.a = s.a + k0 * s.a_col_stride;
      part.b = s.b + k0 * s.b_row_stride;
      if (s.b_row_stride != 1) {
        for (int j = 0; j < s.n; ++j)
          for (int p = 0; p < part.k; ++p)
            columns[j * k_block + p] = part.b[p * s.b_row_stride + j * s.b_col_stride];
        part.b = columns;
        part.b_row_stride = 1;
        part.b_col_stride = k_block;
      }
      switch (s.n) {
        case 1:
          rows<1>(part, 0);
          break;
        case 2:
          rows<2>(part, 0);
          break;
        case 3:
          rows<3>(part, 0);
          break;
        default:
          rows<4>(part, 0);
          break;
      }
    }
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

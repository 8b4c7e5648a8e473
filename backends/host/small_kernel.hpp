// Small products without packing: at these sizes to pack an operand costs as much as to multiply it.
//
// C is covered by register tiles of Rows x (Vectors vectors). Where they do not divide it, the last one is
// moved back so that it ends with C; it recomputes what its neighbour has written and skips it when
// writing. So there is no masked load and no read outside the operands.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/kernel_table.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA {

template <class T, int VectorBytes, int Registers>
class small_kernel {
  using problem = small_problem<T>;
  static constexpr int lanes = VectorBytes / int(sizeof(T));
  /// Rows of the largest tile: enough sums in flight to hide the latency of an FMA, even with one vector.
  static constexpr int rows = Registers >= 32 ? 8 : 4;

  template <int Lanes>
  struct vector_of {
    typedef T type __attribute__((vector_size(Lanes * sizeof(T)), aligned(alignof(T)), may_alias));
  };

  template <int Lanes, int Vectors, int Rows>
  static void tile(const problem& s, int i0, int j0, int skip_rows, int skip_cols) {
    using vector = typename vector_of<Lanes>::type;
    vector acc[Rows][Vectors];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) acc[i][v] = vector{};
    const T* a = s.a + i0 * s.a_row_stride;
    const T* b = s.b + j0;
    for (int p = 0; p < s.k; ++p, a += s.a_col_stride, b += s.b_row_stride) {
      vector row[Vectors];
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v) row[v] = *reinterpret_cast<const vector*>(b + v * Lanes);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 2
        for (int v = 0; v < Vectors; ++v) acc[i][v] += a[i * s.a_row_stride] * row[v];
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      if (i < skip_rows) continue;
      T* c = s.c + (i0 + i) * s.c_row_stride + j0 * s.c_col_stride;
#pragma GCC unroll 2
      for (int v = 0; v < Vectors; ++v, c += Lanes * s.c_col_stride) {
        vector out = s.alpha * acc[i][v];
        if (s.c_col_stride == 1 && skip_cols <= v * Lanes) {
          vector* to = reinterpret_cast<vector*>(c);
          if (s.beta != T(0)) out += s.beta * *to;
          *to = out;
        } else {
          for (int l = 0; l < Lanes; ++l) {
            if (v * Lanes + l < skip_cols) continue;
            T& to = c[l * s.c_col_stride];
            to = s.beta == T(0) ? out[l] : out[l] + s.beta * to;
          }
        }
      }
    }
  }

  /// All rows of the columns of one tile.
  template <int Lanes, int Vectors, int Rows = rows>
  static void column_tile(const problem& s, int j0, int skip_cols) {
    if constexpr (Rows > 1)
      if (s.m < Rows) return column_tile<Lanes, Vectors, Rows / 2>(s, j0, skip_cols);
    int i = 0;
    for (; i + Rows <= s.m; i += Rows) tile<Lanes, Vectors, Rows>(s, i, j0, 0, skip_cols);
    if (i < s.m) tile<Lanes, Vectors, Rows>(s, s.m - Rows, j0, Rows - (s.m - i), skip_cols);
  }

  template <int Lanes = lanes>
  static void multiply_rows(const problem& s) {
    if constexpr (Lanes > 1)
      if (s.n < Lanes) return multiply_rows<Lanes / 2>(s);
    int j = 0;
    if constexpr (Lanes == lanes) {
      for (; j + 2 * Lanes <= s.n; j += 2 * Lanes) column_tile<Lanes, 2>(s, j, 0);
      if (j > 0 && s.n - j > Lanes) return column_tile<Lanes, 2>(s, s.n - 2 * Lanes, 2 * Lanes - (s.n - j));
    }
    for (; j + Lanes <= s.n; j += Lanes) column_tile<Lanes, 1>(s, j, 0);
    if (j < s.n) column_tile<Lanes, 1>(s, s.n - Lanes, Lanes - (s.n - j));
  }

 public:
  /// C = alpha·A·B + beta·C; a B whose rows do not run through memory is first laid out so, on the stack.
  static void multiply(const problem& s) {
    if (s.b_col_stride == 1) return multiply_rows(s);
    alignas(64) T rows_of_b[small_problem<T>::most_elements_of_b];
    for (int j = 0; j < s.n; ++j)
      for (int p = 0; p < s.k; ++p) rows_of_b[p * s.n + j] = s.b[j * s.b_col_stride + p * s.b_row_stride];
    problem plain = s;
    plain.b = rows_of_b;
    plain.b_row_stride = s.n;
    plain.b_col_stride = 1;
    multiply_rows(plain);
  }
};

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA

// A vector added to each column of C, or to each row: `epilogue::bias_by_row(v)`, `epilogue::bias_by_column(v)`.
#pragma once

#include <keramos/gemm/epilogue/data.hpp>

namespace keramos::epilogue {

/// See bias_by_row() and bias_by_column().
template <parts::along Along, class Vector>
struct bias_block {
  using epilogue_block = bias_block;
  using memory_space = typename Vector::memory_space;

  Vector vector;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t i, index_t j, index_t batch) const {
    return parts::sum(acc, parts::element<T>(parts::entry<Along>(vector, i, j, batch)));
  }
};

/// acc + v(i): one value for each row of C. `v` is one of
///
/// - a View, an mdspan or a grid_view of rank 1, or of rank 2, (batch, rows), for one vector to each problem of a batch;
/// - `data`, a pointer: data[i];
/// - `data, stride, batch_stride`: data[i * stride + batch * batch_stride]. batch_stride is 0 if left out.
///
/// Its elements convert to the type of sums (floating-point ones not to integers). Only its address and strides are kept:
/// the elements must live until the product is done, and there must be as many as C has rows.
template <class... V>
requires requires(const V&... v) { parts::as_epilogue_vector(v...); }
constexpr auto bias_by_row(const V&... v) {
  using vector = decltype(parts::as_epilogue_vector(v...));
  return bias_block<parts::along::rows, vector>{parts::as_epilogue_vector(v...)};
}

/// acc + v(j): one value for each column of C. Otherwise as bias_by_row.
template <class... V>
requires requires(const V&... v) { parts::as_epilogue_vector(v...); }
constexpr auto bias_by_column(const V&... v) {
  using vector = decltype(parts::as_epilogue_vector(v...));
  return bias_block<parts::along::columns, vector>{parts::as_epilogue_vector(v...)};
}

}  // namespace keramos::epilogue

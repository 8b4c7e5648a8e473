// Another matrix added to C, as a network's skip connection does: `epilogue::residual(r)`, `epilogue::residual(r, factor)`.
#pragma once

#include <type_traits>

#include <keramos/gemm/epilogue/data.hpp>
#include <keramos/view/matrix_batch.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos::epilogue {

/// See residual().
template <class Matrix, class S>
struct residual_block {
  using epilogue_block = residual_block;
  using memory_space = typename Matrix::memory_space;

  Matrix matrix;
  S factor;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t i, index_t j, index_t batch) const {
    return parts::product_sum(parts::element<T>(factor), parts::element<T>(matrix(batch, i, j)), acc);
  }
};

namespace parts {

template <matrix_like M>
constexpr auto as_epilogue_matrix(const M& m) {
  const auto v = as_matrix(m);
  return epilogue_matrix<typename decltype(v)::value_type, typename space_of<M>::type, stride_of<M, 2, 0>,
                         stride_of<M, 2, 1>, no_stride<2>>(v.data, v.row_stride, v.col_stride, 0);
}
template <matrix_batch_like M>
constexpr auto as_epilogue_matrix(const M& m) {
  const auto v = as_batch(m);
  return epilogue_matrix<typename decltype(v)::value_type, typename space_of<M>::type, stride_of<M, 3, 1>,
                         stride_of<M, 3, 2>, stride_of<M, 3, 0>>(v.data, v.row_stride, v.col_stride,
                                                                 v.batch_stride);
}

}  // namespace parts

/// acc + factor·R(i, j), for a batch acc + factor·R(batch, i, j).
///
/// `r` is anything that gemm takes as a matrix (a View or mdspan of rank 2, a matrix_view), or anything equally spaced
/// that gemm_batched takes (rank 3, a batched_matrix_view); one matrix serves all problems of a batch. It is as large
/// as C and does not overlap it. Elements and factor convert to the type of C's elements (floating-point ones not to
/// integers); integers wrap around. Only the address and strides are kept: R must live until the product is done.
template <class M, class S>
requires(matrix_like<M> || matrix_batch_like<M>) constexpr auto residual(const M& r, S factor) {
  using matrix = decltype(parts::as_epilogue_matrix(r));
  return residual_block<matrix, S>{parts::as_epilogue_matrix(r), factor};
}
/// acc + R(i, j)
template <class M>
requires(matrix_like<M> || matrix_batch_like<M>) constexpr auto residual(const M& r) {
  return residual(r, 1);
}

}  // namespace keramos::epilogue

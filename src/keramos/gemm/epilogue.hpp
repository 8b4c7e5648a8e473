// What happens to an accumulated element on its way to C: a callable `(acc, c, i, j) -> out`.
#pragma once

#include <type_traits>

#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos {

/// BLAS' update, alpha·acc + beta·c.
template <class T>
struct linear_epilogue {
  T alpha;
  T beta;

  /// beta = 0 promises that C is not read: it may hold NaN or nothing at all.
  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return beta != T(0); }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, T c, index_t, index_t) const {
    return alpha * acc + beta * c;
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, index_t, index_t) const { return alpha * acc; }
};

namespace detail {

template <class Epilogue>
inline constexpr bool is_linear = false;
template <class T>
inline constexpr bool is_linear<linear_epilogue<T>> = true;

/// All elements of a problem from their sums, `sums[i * row_stride + j]`.
template <class T, class Epilogue>
void write_block(const Epilogue& epilogue, const gemm_problem<T>& p, const T* sums, index_t row_stride) {
  const bool reads = epilogue.reads_c();
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j) {
      const T sum = sums[i * row_stride + j];
      T& c = p.c[i * p.c_row_stride + j * p.c_col_stride];
      c = reads ? epilogue(sum, c, i, j) : epilogue(sum, i, j);
    }
}

}  // namespace detail

}  // namespace keramos

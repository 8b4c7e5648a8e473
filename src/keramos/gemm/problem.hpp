// A GEMM as the kernels see it: ops and layouts are strides by now.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <keramos/tile/shape.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos {

/// op(X) of BLAS: X, its transpose, or its conjugate transpose (which for real types is T).
enum class op : char { N = 'N', T = 'T', C = 'C' };

/// The type in which products are formed and summed: the element type, but unsigned for i32 so that
/// overflow wraps modulo 2^32 and is defined.
template <class T>
using compute_type = std::conditional_t<std::is_same_v<T, std::int32_t>, std::uint32_t, T>;

/// C (m x n) = epilogue(A (m x k) · B (k x n)), `T` the compute type.
template <class T>
struct gemm_problem {
  tiling::operand<T> a;  // (m, k)
  tiling::operand<T> b;  // (n, k)
  T* c;                  // (m, n)
  index_t c_row_stride;
  index_t c_col_stride;
  index_t m, n, k;
  int pad_m = 0, pad_n = 0;  ///< rows behind the last of A, and of B, that may be read as well: zeros

  /// The same product with C transposed: Cᵀ = op(B)ᵀ·op(A)ᵀ.
  void transpose() {
    std::swap(a, b);
    std::swap(m, n);
    std::swap(pad_m, pad_n);
    std::swap(c_row_stride, c_col_stride);
  }
};

}  // namespace keramos

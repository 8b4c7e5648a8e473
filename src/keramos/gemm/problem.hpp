// A GEMM as the kernels see it: ops and layouts are strides by now.
#pragma once

#include <cstdint>
#include <string_view>
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

/// How plans and messages call an element type; `T` may be the compute type.
template <class T>
inline constexpr std::string_view type_name = std::is_integral_v<T> ? (sizeof(T) == 4 ? "i32" : "i64")
                                                                    : (sizeof(T) == 4 ? "f32" : "f64");

/// Where in the caller's C a problem writes, for epilogues that ask: the library transposes, cuts and batches.
struct gemm_place {
  index_t i0 = 0, j0 = 0;   ///< the caller's row and column of the problem's first element
  index_t batch = 0;        ///< the caller's number of the problem
  bool transposed = false;  ///< rows of the problem are columns of the caller's C

  KERAMOS_FORCEINLINE_FUNCTION index_t row(index_t i, index_t j) const { return i0 + (transposed ? j : i); }
  KERAMOS_FORCEINLINE_FUNCTION index_t col(index_t i, index_t j) const { return j0 + (transposed ? i : j); }
};

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
  gemm_place place = {};

  /// The same product with C transposed: Cᵀ = op(B)ᵀ·op(A)ᵀ.
  void transpose() {
    std::swap(a, b);
    std::swap(m, n);
    std::swap(pad_m, pad_n);
    std::swap(c_row_stride, c_col_stride);
    place.transposed = !place.transposed;
  }

  /// The product for `rows` x `cols` elements of C, from (m0, n0) on.
  gemm_problem part(index_t m0, index_t n0, index_t rows, index_t cols) const {
    gemm_problem p = *this;
    p.a.data = a.at(m0, 0);
    p.b.data = b.at(n0, 0);
    p.c = c + m0 * c_row_stride + n0 * c_col_stride;
    p.m = rows, p.n = cols;
    p.place.i0 = place.row(m0, n0), p.place.j0 = place.col(m0, n0);
    return p;
  }
};

}  // namespace keramos

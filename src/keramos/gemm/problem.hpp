// A GEMM as the kernels see it: ops and layouts are strides by now.
#pragma once

#include <type_traits>
#include <utility>

#include <keramos/gemm/types.hpp>
#include <keramos/tile/shape.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos {

/// op(X) of BLAS: X, its transpose, or its conjugate transpose (of real numbers the transpose).
enum class op : char { N = 'N', T = 'T', C = 'C' };

/// In which arithmetic elements of A and B are multiplied.
enum class gemm_compute {
  standard,      ///< products are those of the elements
  tf32,          ///< f32 on tensor cores: eleven bits of mantissa, to nearest; sums stay in f32
  f32_emulated,  ///< f32 by tensor cores for shorter numbers where that is faster, else as `standard`
  f64_emulated,  ///< the same of f64
};
/// "f32_emulated".
constexpr const char* to_string(gemm_compute compute) {
  switch (compute) {
    case gemm_compute::standard:
      return "standard";
    case gemm_compute::tf32:
      return "tf32";
    case gemm_compute::f32_emulated:
      return "f32_emulated";
    case gemm_compute::f64_emulated:
      return "f64_emulated";
    default:
      return "no gemm_compute";
  }
}

/// Where in the caller's C a problem writes, for epilogues that ask: the library transposes, cuts and batches.
struct gemm_place {
  index_t i0 = 0, j0 = 0;   ///< the caller's row and column of the problem's first element
  index_t batch = 0;        ///< the caller's number of the problem
  bool transposed = false;  ///< rows of the problem are columns of the caller's C

  KERAMOS_FORCEINLINE_FUNCTION index_t row(index_t i, index_t j) const { return i0 + (transposed ? j : i); }
  KERAMOS_FORCEINLINE_FUNCTION index_t col(index_t i, index_t j) const { return j0 + (transposed ? i : j); }
};

/// C (m x n) = epilogue(A (m x k) · B (k x n)); `Types` is a gemm_types.
template <class Types>
struct gemm_problem {
  using types = Types;

  tiling::operand<typename Types::a> a;  // (m, k)
  tiling::operand<typename Types::b> b;  // (n, k)
  typename Types::c* c;                  // (m, n)
  index_t c_row_stride;
  index_t c_col_stride;
  index_t m, n, k;
  int pad_m = 0, pad_n = 0;  ///< rows behind the last of A, and of B, that may be read as well: zeros
  gemm_place place = {};

  /// The same product with C transposed: Cᵀ = op(B)ᵀ·op(A)ᵀ. For transposable types; of others no planner prefers it.
  void transpose() {
    if constexpr (Types::transposable) std::swap(a, b);
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

namespace detail {

/// op(A)·op(B) as kernels of Types do it: as it is, or its transpose if Types has their elements in the other order.
template <class Types, class A, class B>
gemm_problem<Types> problem_of(const tiling::operand<A>& a, const tiling::operand<B>& b, typename Types::c* c,
                               index_t c_row_stride, index_t c_col_stride, index_t m, index_t n, index_t k) {
  if constexpr (std::is_same_v<A, typename Types::a>)
    return {a, b, c, c_row_stride, c_col_stride, m, n, k};
  else
    return {b, a, c, c_col_stride, c_row_stride, n, m, k, 0, 0, {.transposed = true}};
}

/// The same problem in types To, whose elements are the same: itself, if it is of these.
template <class To, class From>
decltype(auto) in_types(const gemm_problem<From>& p) {
  if constexpr (std::is_same_v<To, From>)
    return (p);
  else
    return gemm_problem<To>{p.a, p.b, p.c,     p.c_row_stride, p.c_col_stride, p.m,
                            p.n, p.k, p.pad_m, p.pad_n,        p.place};
}

/// Whether a problem is the transpose of the caller's, for its types' sake (problem_of). The caller's plan is not.
template <class Types>
bool is_turned(const gemm_problem<Types>& p) {
  return !Types::transposable && p.place.transposed;
}

}  // namespace detail

}  // namespace keramos

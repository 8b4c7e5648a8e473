// Epilogues as kernels call them: in a problem's own coordinates, which are those of the caller's C only after
// gemm_place has undone what the library transposed, cut out and batched.
#pragma once

#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/epilogue/linear.hpp>
#include <keramos/gemm/epilogue/quantized.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// BLAS' update, which knows no place: the kernels of hosts do it themselves, and problems may be stacked under it.
template <class T>
using linear_epilogue = epilogue::linear_block<T, T>;
template <class Epilogue>
inline constexpr bool is_linear = false;
template <class A, class B>
inline constexpr bool is_linear<epilogue::linear_block<A, B>> = true;
template <class Epilogue>
inline constexpr bool is_linear<quantized_epilogue<Epilogue>> = is_linear<Epilogue>;

/// alpha and beta of an epilogue that is_linear.
template <class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION auto& linear_part(Epilogue& e) {
  if constexpr (requires { e.epilogue; })
    return e.epilogue;
  else
    return e;
}

/// A caller's epilogue in T, the accumulators' type, in a source that is compiled for warpgroups, as fused.hpp says: there, and
/// only there, their tiles have kernels for it.
template <class Epilogue, class T>
struct on_warpgroups {
  Epilogue epilogue;

  KERAMOS_FORCEINLINE_FUNCTION bool reads_c() const { return detail::reads_c<T>(epilogue); }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, T c, index_t i, index_t j,
                                            index_t batch) const requires may_read_c<Epilogue, T> {
    return static_cast<T>(epilogue(acc, c, i, j, batch));
  }
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, index_t i, index_t j,
                                            index_t batch) const requires may_skip_c<Epilogue, T> {
    return static_cast<T>(epilogue(acc, i, j, batch));
  }
};
template <class Epilogue>
inline constexpr bool is_on_warpgroups = false;
template <class Epilogue, class T>
inline constexpr bool is_on_warpgroups<on_warpgroups<Epilogue, T>> = true;

/// BLAS' update as the library's own kernels of a product are given it.
template <class Types>
using library_epilogue = std::conditional_t<Types::quantizes, quantized_epilogue<linear_epilogue<float>>,
                                            linear_epilogue<typename Types::accumulator>>;

/// The new element at (i, j) of a problem, from C's old one, in T, the accumulators' type: epilogues compute in it, whatever C's
/// elements are.
template <class Epilogue, class T>
KERAMOS_FORCEINLINE_FUNCTION T sum_with_c(const Epilogue& epilogue, const gemm_place& at, T acc, T c,
                                          index_t i, index_t j) {
  constexpr bool reads = may_read_c<Epilogue, T>;
  return apply_epilogue_known<reads>(epilogue, acc, c, at.row(i, j), at.col(i, j), at.batch);
}
/// The same where C is not read (reads_c).
template <class Epilogue, class T>
KERAMOS_FORCEINLINE_FUNCTION T sum_without_c(const Epilogue& epilogue, const gemm_place& at, T acc, index_t i,
                                             index_t j) {
  if constexpr (may_skip_c<Epilogue, T>)
    return apply_epilogue_known<false>(epilogue, acc, acc, at.row(i, j), at.col(i, j), at.batch);
  else
    return sum_with_c(epilogue, at, acc, T(0), i, j);
}

/// Both as an element of C.
template <class Epilogue, class T, class C>
KERAMOS_FORCEINLINE_FUNCTION C element_with_c(const Epilogue& epilogue, const gemm_place& at, T acc, C c,
                                              index_t i, index_t j) {
  return static_cast<C>(sum_with_c(epilogue, at, acc, static_cast<T>(c), i, j));
}
template <class C, class Epilogue, class T>
KERAMOS_FORCEINLINE_FUNCTION C element_without_c(const Epilogue& epilogue, const gemm_place& at, T acc,
                                                 index_t i, index_t j) {
  return static_cast<C>(sum_without_c(epilogue, at, acc, i, j));
}

/// One element of C.
template <class Epilogue, class T, class C>
KERAMOS_FORCEINLINE_FUNCTION void write_element(const Epilogue& epilogue, const gemm_place& at, T acc, C& c,
                                                index_t i, index_t j) {
  c = reads_c<T>(epilogue) ? element_with_c(epilogue, at, acc, c, i, j)
                           : element_without_c<C>(epilogue, at, acc, i, j);
}

/// Elements j0 ... j0 + count - 1 of row i from their sums, the first of them at `c`.
template <bool Reads, class Epilogue, class T, class C>
KERAMOS_FORCEINLINE_FUNCTION void write_elements(const Epilogue& epilogue, const gemm_place& at,
                                                 const T* sums, C* c, index_t stride, index_t i, index_t j0,
                                                 int count) {
  for (int v = 0; v < count; ++v) {
    C& element = c[v * stride];
    if constexpr (Reads)
      element = element_with_c(epilogue, at, sums[v], element, i, j0 + v);
    else
      element = element_without_c<C>(epilogue, at, sums[v], i, j0 + v);
  }
}

/// The same on a host, in loops that compilers turn into vectors: one for each case that would be asked for inside. No
/// lambdas: they would not be compiled for the instruction set of a function that calls this (host::versions).
template <bool Reads, class Epilogue, class Types>
KERAMOS_FORCEINLINE_FUNCTION void write_row_known(const Epilogue& epilogue, const gemm_problem<Types>& p,
                                                  const typename Types::accumulator* sums, index_t i,
                                                  index_t j0, int count) {
  gemm_place plain = p.place, transposed = p.place;
  plain.transposed = false, transposed.transposed = true;
  const index_t stride = p.c_col_stride;
  typename Types::c* const c = p.c + i * p.c_row_stride + j0 * stride;
  if (p.place.transposed) {
    if (stride == 1)
      write_elements<Reads>(epilogue, transposed, sums, c, 1, i, j0, count);
    else
      write_elements<Reads>(epilogue, transposed, sums, c, stride, i, j0, count);
  } else {
    if (stride == 1)
      write_elements<Reads>(epilogue, plain, sums, c, 1, i, j0, count);
    else
      write_elements<Reads>(epilogue, plain, sums, c, stride, i, j0, count);
  }
}
template <class Epilogue, class Types>
KERAMOS_FORCEINLINE_FUNCTION void write_row(const Epilogue& epilogue, const gemm_problem<Types>& p,
                                            const typename Types::accumulator* sums, index_t i, index_t j0,
                                            int count) {
  const Epilogue mine = epilogue;  // which stores to C do not change
  if (reads_c<typename Types::accumulator>(mine))
    write_row_known<true>(mine, p, sums, i, j0, count);
  else
    write_row_known<false>(mine, p, sums, i, j0, count);
}

/// All elements of a problem from their sums, `sums[i * stride + j]`.
template <class Epilogue, class Types>
KERAMOS_FORCEINLINE_FUNCTION void write_block(const Epilogue& epilogue, const gemm_problem<Types>& p,
                                              const typename Types::accumulator* sums, index_t stride) {
  constexpr index_t most = 1 << 30;
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; j += most)
      write_row(epilogue, p, sums + i * stride + j, i, j, int(p.n - j < most ? p.n - j : most));
}

/// The epilogue of a sum without terms. Of BLAS' update alpha is out: alpha·0 would be NaN for an infinite alpha.
template <class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION Epilogue without_terms(Epilogue epilogue) {
  if constexpr (is_linear<Epilogue>) linear_part(epilogue).alpha = 0;
  return epilogue;
}
/// Whether products are of no use to it, and whether C is then as it was.
template <class Epilogue>
bool needs_no_terms(const Epilogue& epilogue) {
  if constexpr (is_linear<Epilogue>) return linear_part(epilogue).alpha == 0;
  return false;
}
template <class Epilogue>
bool keeps_c_without_terms(const Epilogue& epilogue) {
  if constexpr (is_linear<Epilogue>) return linear_part(epilogue).beta == 1;
  return false;
}

}  // namespace keramos::detail

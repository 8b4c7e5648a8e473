// Epilogues as kernels call them: in a problem's own coordinates, which are those of the caller's C only after
// gemm_place has undone what the library transposed, cut out and batched.
#pragma once

#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/concept.hpp>
#include <keramos/gemm/epilogue/linear.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// BLAS' update, which knows no place: the kernels of hosts do it themselves, and problems may be stacked under it.
template <class T>
using linear_epilogue = epilogue::linear_block<T, T>;
template <class Epilogue>
inline constexpr bool is_linear = false;
template <class A, class B>
inline constexpr bool is_linear<epilogue::linear_block<A, B>> = true;

/// The new element at (i, j) of a problem, from C's old one. Epilogues compute in T, the accumulators' type, whatever
/// C's elements are.
template <class Epilogue, class T, class C>
KERAMOS_FORCEINLINE_FUNCTION C element_with_c(const Epilogue& epilogue, const gemm_place& at, T acc,
                                              [[maybe_unused]] C c, index_t i, index_t j) {
  constexpr bool reads = may_read_c<Epilogue, T>;
  return static_cast<C>(
      apply_epilogue_known<reads>(epilogue, acc, static_cast<T>(c), at.row(i, j), at.col(i, j), at.batch));
}

/// The same where C is not read (reads_c).
template <class C, class Epilogue, class T>
KERAMOS_FORCEINLINE_FUNCTION C element_without_c(const Epilogue& epilogue, const gemm_place& at, T acc,
                                                 index_t i, index_t j) {
  if constexpr (may_skip_c<Epilogue, T>)
    return static_cast<C>(
        apply_epilogue_known<false>(epilogue, acc, acc, at.row(i, j), at.col(i, j), at.batch));
  else
    return element_with_c(epilogue, at, acc, C(0), i, j);
}

/// One element of C.
template <class Epilogue, class T, class C>
KERAMOS_FORCEINLINE_FUNCTION void write_element(const Epilogue& epilogue, const gemm_place& at, T acc, C& c,
                                                index_t i, index_t j) {
  c = reads_c<T>(epilogue) ? element_with_c(epilogue, at, acc, c, i, j)
                           : element_without_c<C>(epilogue, at, acc, i, j);
}

/// Elements j0 ... j0 + count - 1 of row i from their sums, on a host: in loops that compilers turn into vectors.
template <class Epilogue, class Types>
KERAMOS_FORCEINLINE_FUNCTION void write_row(const Epilogue& epilogue, const gemm_problem<Types>& p,
                                            const typename Types::accumulator* sums, index_t i, index_t j0,
                                            int count) {
  using T = typename Types::accumulator;
  using C = typename Types::c;
  const Epilogue mine = epilogue;  // which stores to C do not change
  const gemm_place at = p.place;
  C* const c = p.c + i * p.c_row_stride + j0 * p.c_col_stride;
  // nvcc takes values of constants (`unit()`) for calls that a device cannot make.
  const auto write = [&](auto reads, auto unit, auto transposed) {
    const index_t stride = decltype(unit)::value ? 1 : p.c_col_stride;
    gemm_place to = at;
    to.transposed = decltype(transposed)::value;
    for (int v = 0; v < count; ++v) {
      C& element = c[v * stride];
      element = decltype(reads)::value ? element_with_c(mine, to, sums[v], element, i, j0 + v)
                                       : element_without_c<C>(mine, to, sums[v], i, j0 + v);
    }
  };
  const auto with_reads = [&](auto unit, auto transposed) {
    reads_c<T>(mine) ? write(std::true_type(), unit, transposed) : write(std::false_type(), unit, transposed);
  };
  const auto with_stride = [&](auto transposed) {
    p.c_col_stride == 1 ? with_reads(std::true_type(), transposed)
                        : with_reads(std::false_type(), transposed);
  };
  at.transposed ? with_stride(std::true_type()) : with_stride(std::false_type());
}

/// All elements of a problem from their sums, `sums[i * n + j]`.
template <class Epilogue, class Types>
void write_block(const Epilogue& epilogue, const gemm_problem<Types>& p,
                 const typename Types::accumulator* sums) {
  constexpr index_t most = 1 << 30;
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; j += most)
      write_row(epilogue, p, sums + i * p.n + j, i, j, int(p.n - j < most ? p.n - j : most));
}

/// The epilogue of a sum without terms. Of BLAS' update alpha is out: alpha·0 would be NaN for an infinite alpha.
template <class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION Epilogue without_terms(Epilogue epilogue) {
  if constexpr (is_linear<Epilogue>) epilogue.alpha = 0;
  return epilogue;
}
/// Whether products are of no use to it, and whether C is then as it was.
template <class Epilogue>
bool needs_no_terms(const Epilogue& epilogue) {
  if constexpr (is_linear<Epilogue>) return epilogue.alpha == 0;
  return false;
}
template <class Epilogue>
bool keeps_c_without_terms(const Epilogue& epilogue) {
  if constexpr (is_linear<Epilogue>) return epilogue.beta == 1;
  return false;
}

}  // namespace keramos::detail

// The compiled kernels of one instruction set, behind function pointers. No Kokkos here: this and
// micro_kernel.hpp are all that kernels.cpp sees, so that nothing else is compiled for a newer
// processor than the one that may run it.
#pragma once

#include <cstdint>

namespace keramos::backend::host {

/// C (m x n) = alpha·A·B + beta·C, small enough to be multiplied where it lies.
template <class T>
struct small_problem {
  /// The most elements that B may have if its rows do not run through memory: 64 KiB.
  static constexpr int most_elements_of_b = 64 * 1024 / int(sizeof(T));

  int m, n, k;
  const T* a;  // (m, k)
  std::int64_t a_row_stride, a_col_stride;
  const T* b;  // (k, n)
  std::int64_t b_row_stride, b_col_stride;
  T* c;  // (m, n)
  std::int64_t c_row_stride, c_col_stride;
  T alpha, beta;
};

/// Packed operands are panels of `width` rows of A (mr) or columns of B (nr): element (i, p) of a panel
/// of k columns is at `p * width + i`, short panels are filled with zeros. Accumulators are micro tiles
/// of mr x nr, row-major, tile after tile along n, then along m.
template <class T>
struct kernel_table {
  const char* isa;
  int mr, nr;      ///< register tile
  int mc, nc, kc;  ///< block tile: A's mc x kc and B's kc x nc panels stay in the second-level cache

  /// Packs `mn` x `k` elements `from[i * stride_mn + p * stride_k]` into panels.
  using pack_function = void(T* panels, const T* from, std::int64_t stride_mn, std::int64_t stride_k, int mn,
                             int k);
  pack_function* pack_a;
  pack_function* pack_b;

  /// acc (+)= A·B over `panels_m` x `panels_n` micro tiles; `first` overwrites.
  void (*multiply)(T* acc, const T* a, const T* b, int panels_m, int panels_n, int k, bool first);

  /// C(i, j) = alpha * acc + beta * C(i, j) for rows x cols elements; beta = 0 does not read C.
  void (*write)(T* c, std::int64_t row_stride, std::int64_t col_stride, const T* acc, int rows, int cols,
                T alpha, T beta);

  void (*multiply_small)(const small_problem<T>& problem);
};

}  // namespace keramos::backend::host

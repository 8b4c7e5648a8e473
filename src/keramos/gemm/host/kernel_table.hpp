// The compiled kernels of one instruction set, behind function pointers. No Kokkos here: this and
// micro_kernel.hpp are all that src/gemm/host_kernels.cpp sees, so that nothing else is compiled for a newer
// processor than the one that may run it.
#pragma once

#include <cstdint>

#include <keramos/base/compiler.hpp>
#include <keramos/gemm/types.hpp>

namespace keramos::detail::host {

/// For which elements some instruction sets have kernels of their own: of eight bits as integers, and bfloat16s, which floats
/// of eight bits are converted to while they are packed.
template <class Types>
inline constexpr bool multiplies_bytes = Types::operands == tiling::bytes();
template <class Types>
inline constexpr bool multiplies_as_bf16 =
    Types::operands == tiling::halves(scalar_type::bf16) || Types::operands
                                                                == tiling::halves(scalar_type::f8);

/// C (m x n) = alpha·A·B + beta·C, to be multiplied in place, unpacked.
template <class T>
struct unpacked_problem {
  int m, n, k;
  const T* a;  // (m, k)
  std::int64_t a_row_stride, a_col_stride;
  const T* b;  // (k, n)
  std::int64_t b_row_stride, b_col_stride;
  T* c;  // (m, n)
  std::int64_t c_row_stride, c_col_stride;
  T alpha, beta;
  bool conjugate_a = false, conjugate_b = false;  ///< of complex numbers
};

/// A block of C (rows x cols) that takes up one k-tile, packed. Packed operands are panels of `width`
/// rows of A (mr) or columns of B (nr): number (i, p) of a panel of k columns is at `p * width + i`,
/// short panels are filled with zeros. A number is one element, or the bits of a group of neighbours along k, of which
/// `k` then counts the groups. Sums that more k-tiles follow are kept in micro tiles of mr x nr,
/// row-major, tile after tile along m, then along n.
template <class T>
struct block_product {
  T* sums;     // (panels_n, panels_m, mr, nr)
  const T* a;  // (panels_m, k, mr)
  const T* b;  // (panels_n, k, nr)
  int rows, cols, k;
  bool first;  ///< overwrites the sums
  bool last;   ///< writes C = alpha·sums + beta·C instead; beta = 0 does not read C
  T* c;        // (rows, cols)
  std::int64_t c_row_stride, c_col_stride;
  T alpha, beta;
  bool conjugate_a = false, conjugate_b = false;  ///< of complex numbers
  bool kind_a = true, kind_b = true;  ///< as tiling::reading has it, where packing leaves that open
  /// If not null, it is called where C would be written, with `writer`, the sums of rows x cols elements in rows of nr, and
  /// where in the block these begin. C and its strides may then be 0.
  void (*write)(const void* writer, const T* sums, int row, int col, int rows, int cols) = nullptr;
  const void* writer = nullptr;
};

/// The kernels of a gemm_types. All but the packing work in the accumulators' type.
template <class Types>
struct kernel_table {
  using T = typename Types::accumulator;

  const char* isa;
  int mr, nr;      ///< register tile
  int mc, nc, kc;  ///< block tile: see backends/host/tiles.hpp
  int whole_k;
  bool keeps_nc;  ///< even where B is packed for all tiles at once
  // See backends/host/products.hpp.
  int group = 1;        ///< elements along k that a packed number holds
  int step = 1;         ///< packed numbers come in multiples of that, the last ones zeros
  int corrections = 0;  ///< more numbers, behind those of k elements
  int speed = 1;  ///< products of elements in the time of one of the accumulators' type by vectors, about

  /// How many k-tiles hold k elements.
  std::int64_t k_tiles(std::int64_t k) const { return k <= whole_k ? 1 : (k + kc - 1) / kc; }
  /// How many packed numbers hold k elements.
  KERAMOS_ANYWHERE std::int64_t packed(std::int64_t k) const {
    return (k + depth() - 1) / depth() * step + corrections;
  }
  /// The elements along k that packed numbers come in multiples of.
  KERAMOS_ANYWHERE int depth() const { return group * step; }

  /// Packs `mn` x `k` elements `from[i * stride_mn + p * stride_k]` into panels; `kind` is tiling::reading's.
  template <class From>
  using pack_function = void(T* panels, const From* from, std::int64_t stride_mn, std::int64_t stride_k,
                             int mn, int k, bool kind);
  using pack_b_function = pack_function<typename Types::b>;
  pack_function<typename Types::a>* pack_a;
  pack_b_function* pack_b;

  /// Multiplies a block: micro_kernel::multiply, or that of a kernel of complex numbers, compiled for `isa`.
  void (*multiply)(const block_product<T>& block);

  // What multiplies elements in place is for uniform types alone; others have none.

  /// C's rows must run through memory (c_col_stride = 1).
  void (*multiply_unpacked)(const unpacked_problem<T>& problem) = nullptr;
  /// Of real numbers, for planners: elements of a vector, and vectors that it multiplies in a step of k of a product m x n x k.
  int lanes = 0;
  std::int64_t (*vectors_of_step)(int m, int n, int k) = nullptr;
  /// pack.hpp's transpose_block. Vectors' lanes divide `step`.
  void (*transpose)(T* to, std::int64_t step, const T* from, std::int64_t stride, int rows,
                    int cols) = nullptr;
  int few_products = 0;  ///< of an element of C: with no more of them packing does not pay
  /// Dot products along k: C has at most `dots` columns and A's rows run through memory, or it has at most
  /// `dots` rows and B's columns do.
  void (*multiply_dots)(const unpacked_problem<T>& problem) = nullptr;
  int dots = 0;
};

}  // namespace keramos::detail::host

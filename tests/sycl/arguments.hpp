// What the host hands to the kernels of kernels.cpp: plain data, which both sides read alike.
#pragma once

#include <cstdint>

namespace keramos::test::device {

/// One product. Element (i, l) of A is a[i * a_stride_mn + l * a_stride_k], element (l, j) of B b[j * b_stride_mn +
/// l * b_stride_k].
struct product {
  const void* a;
  const void* b;
  void* c;
  std::int64_t a_stride_mn, a_stride_k, b_stride_mn, b_stride_k, c_row_stride, c_col_stride;
  std::int64_t m, n, k;
  int a_other = 0,
      b_other = 0;  ///< complex elements are conjugated; bytes are unsigned; floats of eight bits are e5m2
  double alpha = 1, beta = 0;
  /// Parts of k, and where they meet: block.m * block.n sums of each part of each tile, and a zero for each.
  int parts = 1;
  std::int64_t k_per_part = 0;
  void* sums = nullptr;
  int* arrivals = nullptr;
  /// Of a batch: how many there are, and from one to the next so many elements of A, B and C.
  std::int64_t count = 1, a_step = 0, b_step = 0, c_step = 0;
};

/// A kernel of products: row `row` of those that the tile table has for the type, with operands that lie as `access` says
/// (keramos/gemm/collective/simt_rows.hpp). No team: there is no such kernel.
struct tile {
  int team_size, block_m, block_n, block_k, splits_k;
};
inline constexpr int most_rows = 3, accesses = 16;

/// A kernel of small batches: so many problems a team, each of at most `size` x `size` elements of C. Numbers of kernels are
/// those of the table's rows for the type, times eight, plus 1 where A runs along k, 2 where B does, 4 for copies of 16 bytes.
struct small {
  int team_size, problems, size;
};
inline constexpr int most_small_rows = 4, small_accesses = 8;

/// What item i of all of a kernel's items has: of its group, up to itself, of its sub-group, from lanes, from local memory.
struct group_results {
  std::int64_t sum, least, where, middle, any, all;
  std::int64_t composed_a, composed_b, before;
  std::int64_t sub_group_sum, sub_group_composed_a, sub_group_composed_b;
  std::int64_t left, right, other, named;
  std::int64_t reversed;
};
/// A stencil's two grids, of two or three extents. Memory runs along the last, whose rows are three elements longer; `boundary`
/// numbers keramos::boundary.
struct grid {
  const float* in = nullptr;
  float* out = nullptr;
  std::int64_t extent[3] = {1, 1, 1};
  int boundary = 0;
};
/// Of a neighbour `by` points away in dimension d.
constexpr int weight_of(int d, int by) { return (d * 5 + by * 3) % 7 + 2; }

/// Numbers that differ from item to item.
constexpr std::int64_t value_of(std::int64_t i) { return i * 2654435761LL % 1009 - 300; }

}  // namespace keramos::test::device

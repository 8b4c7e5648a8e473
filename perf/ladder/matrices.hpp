// What the ladder's kernels share: their operands, and the count of what they move.
#pragma once

#include <type_traits>

#include <keramos/base/float16.hpp>
#include <keramos/base/index.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::perf::ladder {

using memory_space = keramos::default_execution_space::memory_space;
template <class T>
using row_major =
    Kokkos::View<T**, Kokkos::LayoutRight, memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

// C (m x n) = A (m x k) · B (k x n), all row-major. Steps for a transposed B find it as n x k in `b`.
template <class T>
struct operands {
  row_major<const T> a, b;
  row_major<T> c;
  index_t m, n, k;
};

using keramos::detail::ceil_div;

// What products are summed in: f32 of bf16.
template <class T>
using sum_of = std::conditional_t<std::is_same_v<T, bfloat16>, float, T>;

// The elements of C that one item keeps in registers.
template <class T, int Rows, int Cols>
struct fragment {
  T value[Rows][Cols] = {};
};

// How many elements the items ask of global memory, C written once included, if every block of m x n
// elements of C reads its rows of A and columns of B once.
inline double elements_moved(double m, double n, double k, double block_m, double block_n) {
  const double blocks_m = double(ceil_div(index_t(m), index_t(block_m)));
  const double blocks_n = double(ceil_div(index_t(n), index_t(block_n)));
  return m * k * blocks_n + k * n * blocks_m + m * n;
}

// The register-tiled steps: a team of Width x Width items computes a block of C, `thread` x `thread`
// elements an item, over k-tiles of this depth.
template <int Width>
struct register_tile {
  static constexpr int thread = Width == 32 ? 4 : 8;
  static constexpr int block = Width * thread;
  static constexpr int depth = 8;
  static constexpr int items = Width * Width;
};

}  // namespace keramos::perf::ladder

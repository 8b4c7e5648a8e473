// Staging for kernels of phases: a group brings tiles of a matrix into its local memory, several ahead of
// the one it works on. The copies of a stage are asynchronous where the machine has that (cp.async on
// CUDA) and plain ones elsewhere; what the kernel says is the same.
//
//   auto ring = g.local<0>();                                  // local_array<T, stages, rows, columns>
//   for (int s = 0; s < stages - 1; ++s) {
//     tiling::copy(g, ring.sub(s), A, i0, s * columns);          // begins
//     tiling::commit(g);                                         // closes stage s
//   }
//   for (int s = 0; s < tiles; ++s) {
//     tiling::wait<stages - 2>(g);                               // stage s is there, for all items
//     const int next = s + stages - 1;                         // its slot was read in the round before
//     if (next < tiles) tiling::copy(g, ring.sub(next % stages), A, i0, next * columns);
//     tiling::commit(g);                                         // also an empty one: wait counts them
//     g.parallel_for_work_item([=](h_item it) { ... ring.sub(s % stages) ... });
//   }
//
// All of these stand outside phases. A slot must not be overwritten before all items have read it: here
// the barrier in wait() sees to that.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/enabled_backends.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos::tiling {

namespace detail {

/// A tile's place in a matrix, and how its elements are shared out to threads.
template <int Rows, int Cols, int Pitch, int Threads, class T>
struct tile_copy {
  T* local;
  matrix_view<const T> from;
  index_t i0, j0;

  static constexpr int vector = sizeof(T) == 4 || sizeof(T) == 8 ? 16 / int(sizeof(T)) : 1;
  static constexpr bool can_vector = vector > 1 && Cols % vector == 0 && Pitch % vector == 0;

  KERAMOS_FORCEINLINE_FUNCTION const T* at(index_t i, index_t j) const {
    return from.data + i * from.row_stride + j * from.col_stride;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool whole() const {
    return i0 >= 0 && j0 >= 0 && i0 + Rows <= from.rows && j0 + Cols <= from.cols;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool aligned() const {
    return from.col_stride == 1 && from.row_stride % vector == 0 &&
           reinterpret_cast<std::uintptr_t>(at(i0, j0)) % 16 == 0;
  }

  /// One thread copies all: row after row, so that the loops are the compiler's to vectorise.
  KERAMOS_FORCEINLINE_FUNCTION void by_one_thread() const {
    const index_t first = j0 < 0 ? -j0 : 0;
    const index_t last = from.cols - j0 < Cols ? from.cols - j0 : Cols;
    const index_t stride = from.col_stride;
    for (int i = 0; i < Rows; ++i) {
      T* const to = local + i * Pitch;
      const bool inside = 0 <= i0 + i && i0 + i < from.rows && first < last;
      if (!inside) {
        for (int j = 0; j < Cols; ++j) to[j] = T(0);
        continue;
      }
      const T* const row = at(i0 + i, j0 + first);
      for (index_t j = 0; j < first; ++j) to[j] = T(0);
      if (stride == 1)
        for (index_t j = first; j < last; ++j) to[j] = row[j - first];
      else
        for (index_t j = first; j < last; ++j) to[j] = row[(j - first) * stride];
      for (index_t j = last; j < Cols; ++j) to[j] = T(0);
    }
  }

  /// `Count` elements of row i from column j on.
  template <bool Whole, int Count, class Staging>
  KERAMOS_FORCEINLINE_FUNCTION void piece(int i, int j) const {
    T* const to = local + i * Pitch + j;
    int valid = Count;
    if constexpr (!Whole) {
      const index_t left = from.cols - (j0 + j);
      const bool inside = 0 <= i0 + i && i0 + i < from.rows && 0 <= j0 + j && left > 0;
      valid = !inside ? 0 : left < Count ? int(left) : Count;
    }
    const T* const source = valid > 0 ? at(i0 + i, j0 + j) : from.data;
    if constexpr (sizeof(T) == 4 || sizeof(T) == 8)
      Staging::template copy<Count>(to, source, valid);
    else
      *to = valid > 0 ? *source : T(0);
  }

  template <bool Whole, int Count, class Staging>
  KERAMOS_FORCEINLINE_FUNCTION void along_columns(int thread) const {
    constexpr int pieces = Cols / Count, all = Rows * pieces;
    KERAMOS_UNROLL
    for (int s = 0; s < (all + Threads - 1) / Threads; ++s) {
      const int e = thread + s * Threads;
      if (all % Threads == 0 || e < all) piece<Whole, Count, Staging>(e / pieces, e % pieces * Count);
    }
  }
  template <bool Whole, class Staging>
  KERAMOS_FORCEINLINE_FUNCTION void along_rows(int thread) const {
    for (int e = thread; e < Rows * Cols; e += Threads) piece<Whole, 1, Staging>(e % Rows, e / Rows);
  }

  template <bool Whole, class Staging>
  KERAMOS_FORCEINLINE_FUNCTION void by_threads(int thread) const {
    if constexpr (can_vector) {
      if (aligned() && j0 % vector == 0) {
        along_columns<Whole, vector, Staging>(thread);
        return;
      }
    }
    // Neighbouring threads read neighbouring elements.
    if (from.row_stride == 1 && from.col_stride != 1)
      along_rows<Whole, Staging>(thread);
    else
      along_columns<Whole, 1, Staging>(thread);
  }
};

}  // namespace detail

/// Begins to copy the `Rows` x `Cols` elements of `from` whose first is (i0, j0) to `to(0, 0)` on; the
/// extents are those of `to` unless given (pad `to` and give them). Elements outside `from` become 0, so
/// tiles may stick out on every side. The copy may be under way until wait().
template <int Rows = 0, int Cols = 0, class Group, class T, int LocalRows, int LocalCols>
KERAMOS_FORCEINLINE_FUNCTION void copy(Group& g, const local_array<T, LocalRows, LocalCols>& to,
                                       const matrix_view<const std::type_identity_t<T>>& from, index_t i0,
                                       index_t j0) {
  static_assert(Rows <= LocalRows && Cols <= LocalCols, "keramos: tiling::copy: the tile exceeds the array");
  using exec = typename Group::execution_space;
  constexpr int rows = Rows > 0 ? Rows : LocalRows, cols = Cols > 0 ? Cols : LocalCols;
  const detail::tile_copy<rows, cols, LocalCols, Group::team_size, T> c{to.data(), from, i0, j0};
  if constexpr (Group::team_size == 1) {
    c.by_one_thread();
  } else {
    const int thread = int(keramos::detail::group_access::team(g).team_rank());
    if (c.whole())
      c.template by_threads<true, backend::staging<exec>>(thread);
    else
      c.template by_threads<false, backend::staging<exec>>(thread);
  }
}

/// The same for `to.size` elements of the `count` at `from`, from element `first` on.
template <class Group, class T, int Size>
KERAMOS_FORCEINLINE_FUNCTION void copy(Group& g, const local_array<T, Size>& to,
                                       const std::type_identity_t<T>* from, index_t count,
                                       index_t first = 0) {
  copy(g, local_array<T, 1, Size>(to.data()), matrix_view<const T>{from, 1, count, count, 1}, 0, first);
}

/// Closes a stage: the copies begun since the last commit.
template <class Group>
KERAMOS_FORCEINLINE_FUNCTION void commit(Group&) {
  backend::staging<typename Group::execution_space>::commit();
}

/// Waits until all but the last `Pending` stages are in local memory, and for all items of the group.
template <int Pending = 0, class Group>
KERAMOS_FORCEINLINE_FUNCTION void wait(Group& g) {
  backend::staging<typename Group::execution_space>::template wait<Pending>();
  g.barrier();
}

}  // namespace keramos::tiling

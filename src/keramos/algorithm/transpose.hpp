// keramos::transpose: B ← Aᵀ.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/backends/simt/memory.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

namespace detail {

/// to(i, j) = from(i, j) between layouts: neighbours along j lie together in `from`. If they do not in
/// `to`, a tile goes through local memory, so that both sides are read and written along their memory.
/// (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009; the padding is theirs.)
///
/// What a GPU's memory minds is writing. So tiles follow each other along `to`, and a piece of a row of `to`
/// begins with a sector of it, wherever the tile does: it begins `shift` elements early, and ends so. For
/// that the tile has `more` rows above its own, which its neighbour has just read.
template <class Exec, class T, bool Turn>
struct transpose_kernel {
  using traits = backend::traits<Exec>;
  static constexpr bool on_gpu = Turn && !traits::is_host;
  static constexpr int side = sizeof(T) <= (on_gpu ? 8 : 4) ? 64 : 32;
  /// Elements of a sector.
  static constexpr int sector = [] {
    if constexpr (on_gpu && (sizeof(T) == 4 || sizeof(T) == 8))
      return int(backend::simt::sector_bytes / sizeof(T));
    else
      return 1;
  }();
  static constexpr int more = sector > 1 ? sector : 0;
  static constexpr int lanes = 256 / side;
  static constexpr int passes = side / lanes;
  static_assert(more % lanes == 0);
  static constexpr int groups_per_unit = sizeof(T) <= 4 ? 4 : 3;  // a tile's loads are all under way at once
  using tile_type = local_array<T, side + more, side + 1>;
  using memory = std::conditional_t<Turn, local_memory<tile_type>, local_memory<>>;
  using group_type = group<local_range<lanes, side>, memory, Exec>;

  matrix_view<const T> from;
  matrix_view<T> to;

  /// Tiles down and along; those behind the last rows write what shifts leave.
  range<2> groups() const {
    const index_t down = (from.rows + sector - 1 + side - 1) / side, along = (from.cols + side - 1) / side;
    return Turn ? range{along, down} : range{down, along};
  }

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    const index_t i0 = g.get_group_id(Turn ? 1 : 0) * side, j0 = g.get_group_id(Turn ? 0 : 1) * side;
    const index_t down = from.rows - i0, along = from.cols - j0;
    if (i0 >= more && down >= side && along >= side)
      tile<true>(g, i0, j0, side, side);
    else
      tile<false>(g, i0, j0, down < side ? int(down) : side, along < side ? int(along) : side);
  }

  /// Local row r holds row i0 - more + r.
  template <bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void tile(group_type& g, index_t i0, index_t j0, int rows, int cols) const {
    const index_t from_i = from.row_stride, from_j = from.col_stride;
    const index_t to_i = to.row_stride, to_j = to.col_stride;
    const T* const source = from.data + (i0 - more) * from_i + j0 * from_j;
    T* const target = to.data + i0 * to_i + j0 * to_j;
    const int first = i0 < more ? int(more - i0) : 0;
    if constexpr (on_gpu) {
      const auto t = g.template local<0>();
      g.parallel_for_work_item([=](h_item it) {
        constexpr int count = passes + more / lanes;
        T v[count] = {};  // all loads are under way at once
        const T* at = source + it.i * from_i + it.j * from_j;
        const int end = it.j < cols ? rows + more : 0;
        KERAMOS_UNROLL
        for (int p = 0; p < count; ++p, at += lanes * from_i) {
          const int r = it.i + p * lanes;
          if (Whole || (r >= first && r < end)) v[p] = *at;
        }
        KERAMOS_UNROLL
        for (int p = 0; p < count; ++p) t(it.i + p * lanes, it.j) = v[p];
      });
      g.barrier();
      g.parallel_for_work_item([=](h_item it) {
        T* row = target + it.i * to_j;
        KERAMOS_UNROLL
        for (int p = 0; p < passes; ++p, row += lanes * to_j) {
          const int j = it.i + p * lanes;
          const int shift =
              sector > 1 && to_i == 1 ? int(reinterpret_cast<std::uintptr_t>(row) / sizeof(T) % sector) : 0;
          const int r = it.j + more - shift;
          if (Whole || (r >= first && r < rows + more && j < cols)) row[(it.j - shift) * to_i] = t(r, j);
        }
      });
    } else if constexpr (Turn) {
      const auto t = g.template local<0>();
      KERAMOS_UNROLL
      for (int p = 0; p < passes; ++p)
        g.parallel_for_work_item([=](h_item it) {
          const int i = it.i + p * lanes, j = it.j;
          if (Whole || (i < rows && j < cols)) t(i, j) = source[i * from_i + j * from_j];
        });
      g.barrier();
      KERAMOS_UNROLL
      for (int p = 0; p < passes; ++p)
        g.parallel_for_work_item([=](h_item it) {
          const int i = it.j, j = it.i + p * lanes;
          if (Whole || (i < rows && j < cols)) target[i * to_i + j * to_j] = t(i, j);
        });
    } else {
      KERAMOS_UNROLL
      for (int p = 0; p < passes; ++p)
        g.parallel_for_work_item([=](h_item it) {
          const int i = it.i + p * lanes, j = it.j;
          if (Whole || (i < rows && j < cols)) target[i * to_i + j * to_j] = source[i * from_i + j * from_j];
        });
    }
  }
};

template <bool Turn, class Exec, class T>
basic_event<Exec> launch_transpose(basic_queue<Exec>& q, const matrix_view<const T>& from,
                                   const matrix_view<T>& to) {
  const transpose_kernel<Exec, T, Turn> kernel{from, to};
  return q.template parallel_for_work_group<typename transpose_kernel<Exec, T, Turn>::group_type>(
      "keramos::transpose", kernel.groups(), kernel);
}

}  // namespace detail

/// B ← Aᵀ on the queue; returns at once.
///
/// @param a  m x n: a rank-2 View of any layout, an mdspan or a matrix_view, of any type that is
///           trivially copyable and can be made without arguments
/// @param b  n x m, of the same type and any layout: a row-major A and a column-major B are a plain copy
/// @throws invalid_argument if the extents disagree, data is null, or B overlaps A or itself.
///
/// Each element is read and written once: 2·m·n·sizeof(T) bytes.
template <class Exec, matrix_like MA, matrix_like MB>
basic_event<Exec> transpose(basic_queue<Exec>& q, const MA& a, const MB& b) {
  using element = typename decltype(as_matrix(a))::value_type;
  static_assert(std::is_same_v<decltype(as_matrix(b).data), element*>,
                "keramos::transpose: A and B must have one element type, and B's must not be const");
  static_assert(
      std::is_trivially_copyable_v<element> && std::is_default_constructible_v<element>,
      "keramos::transpose: elements are copied through others of their type, so it must be trivially "
      "copyable and default constructible");
  static_assert(detail::reaches<Exec, MA>() && detail::reaches<Exec, MB>(),
                "keramos::transpose: a View lies in memory that this queue's execution space cannot access");
  const matrix_view<const element> from = as_matrix(a);
  const matrix_view<element> to = as_matrix(b);
  const auto arg_a = detail::argument("A", as_grid<2>(from)), arg_b = detail::argument("B", as_grid<2>(to));
  detail::check_array("transpose", arg_a);
  const index_t wanted[] = {from.cols, from.rows};
  detail::check_extents("transpose", arg_b, wanted, "the extents of A, exchanged");
  detail::check_output("transpose", arg_b);
  detail::check_disjoint("transpose", arg_a, arg_b);
  if (from.rows == 0 || from.cols == 0) return q.mark();

  // to(i, j) = from(i, j) with j along the memory of `from`.
  matrix_view<const element> x = from;
  matrix_view<element> y = to.transposed();
  const auto along_rows = [](const auto& m) {
    return m.rows > 1 && (m.cols == 1 || std::abs(m.row_stride) < std::abs(m.col_stride));
  };
  if (along_rows(x)) x = x.transposed(), y = y.transposed();
  return along_rows(y) ? detail::launch_transpose<true>(q, x, y) : detail::launch_transpose<false>(q, x, y);
}

}  // namespace keramos

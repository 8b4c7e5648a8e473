// The kernel of transpose.hpp. Internal.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/simt/memory.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos::detail {

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
  static constexpr int side = sizeof(T) <= (on_gpu ? 8 : 4) ? 64 : on_gpu && sizeof(T) > 32 ? 16 : 32;
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
  static_assert(!on_gpu || sizeof(tile_type) <= traits::sure_local_bytes);
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

/// Whether a tile is worth its way through local memory: not of elements that are lines of memory by themselves.
template <class T>
inline constexpr bool turns_in_tiles = sizeof(T) <= 128;

template <bool Turn, class Exec, class T>
basic_event<Exec> launch_transpose(basic_queue<Exec>& q, const matrix_view<const T>& from,
                                   const matrix_view<T>& to) {
  const transpose_kernel<Exec, T, Turn> kernel{from, to};
  return q.template parallel_for_work_group<typename transpose_kernel<Exec, T, Turn>::group_type>(
      "keramos::transpose", kernel.groups(), kernel);
}

}  // namespace keramos::detail

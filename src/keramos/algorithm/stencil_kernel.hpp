// The kernels of keramos::stencil, in two and three dimensions. Internal.
#pragma once

#include <cstddef>

#include <keramos/algorithm/neighborhood.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/tile_copy.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

/// What a stencil finds outside its grid.
enum class boundary {
  interior,  ///< nothing: points whose halo sticks out are not written
  zero,      ///< zeros
  clamp,     ///< the value at the border
  periodic   ///< the grid again
};

namespace detail {

/// Index i of an extent n as boundary b sees it; -1 where there is nothing.
KERAMOS_FORCEINLINE_FUNCTION index_t at_boundary(index_t i, index_t n, boundary b) {
  if (0 <= i && i < n) return i;
  if (b == boundary::clamp) return i < 0 ? 0 : n - 1;
  if (b == boundary::periodic) return (i % n + n) % n;
  return -1;
}

struct stencil_tile {
  int rows, cols;
};
/// The largest tile of a plane of which `planes`, halo included, fit so many bytes; the smallest if none does.
constexpr stencil_tile choose_stencil_tile(std::size_t element, int halo_rows, int halo_cols, int planes,
                                           std::size_t bytes) {
  for (const stencil_tile t : {stencil_tile{32, 64}, {16, 64}, {8, 64}, {8, 32}, {4, 32}, {4, 16}, {4, 8}}) {
    if (planes > 1 && t.rows > 16) continue;  // planes follow each other, so they may be smaller
    if (planes * (t.rows + halo_rows) * (t.cols + halo_cols) * element <= bytes) return t;
  }
  return {4, 8};
}

/// A group owns a tile of rows x columns, in three dimensions a column of such tiles. It keeps the planes
/// that the halo spans in a ring of local memory, and stages the next one while it computes (the scheme of
/// Micikevicius, "3D Finite Difference Computation on GPUs using CUDA", GPGPU 2009, with asynchronous copies).
template <class Exec, class T, class U, class Halo, bool Flipped, class F>
struct stencil_kernel {
  static constexpr int rank = Halo::rank;
  static constexpr bool deep = rank == 3;
  // Of the kernel's own dimensions: planes, rows, columns.
  static constexpr int radius_p = !deep ? 0 : Halo::radius(Flipped ? 2 : 0);
  static constexpr int radius_r = deep ? Halo::radius(1) : Halo::radius(Flipped ? 1 : 0);
  static constexpr int radius_c = Halo::radius(Flipped ? 0 : rank - 1);
  static constexpr int ahead = 1;  // planes under way while one is computed
  static constexpr int ring = deep ? 2 * radius_p + 1 + ahead : 1;
  static constexpr stencil_tile shape = choose_stencil_tile(sizeof(T), 2 * radius_r, 2 * radius_c, ring,
                                                            backend::traits<Exec>::sure_local_bytes);
  static constexpr int lanes = 256 / shape.cols < shape.rows ? 256 / shape.cols : shape.rows;
  static constexpr int passes = shape.rows / lanes;
  static constexpr int groups_per_unit = 4;
  static constexpr int local_rows = shape.rows + 2 * radius_r, local_cols = shape.cols + 2 * radius_c;

  using planes_type = local_array<T, ring, local_rows, local_cols>;
  static_assert(backend::traits<Exec>::is_host ||
                    sizeof(planes_type) <= backend::traits<Exec>::sure_local_bytes,
                "keramos::stencil: a halo of this size around elements of this type does not fit the local "
                "memory that every GPU of this backend has");
  using group_type = group<local_range<lanes, shape.cols>, local_memory<planes_type>, Exec>;
  using point = neighborhood<T, Halo>;

  // A 2-D grid is one plane.
  index_t planes, rows, cols;
  const T* in;
  index_t in_p, in_r, in_c;
  U* out;
  index_t out_p, out_r, out_c;
  F f;
  boundary edge;
  int chunk;  // planes of a group

  stencil_kernel(const grid_view<const T, rank>& from, const grid_view<U, rank>& to, const F& function,
                 boundary b, index_t concurrency)
      : planes(deep ? from.extent[0] : 1),
        rows(from.extent[rank - 2]),
        cols(from.extent[rank - 1]),
        in(from.data),
        in_p(deep ? from.stride[0] : 0),
        in_r(from.stride[rank - 2]),
        in_c(from.stride[rank - 1]),
        out(to.data),
        out_p(deep ? to.stride[0] : 0),
        out_r(to.stride[rank - 2]),
        out_c(to.stride[rank - 1]),
        f(function),
        edge(b) {
    // Long columns read their halo planes seldom; several times as many groups as run at once even out.
    const index_t columns = tiles_r() * tiles_c();
    const index_t wanted = 4 * concurrency / group_type::team_size / columns + 1;
    const index_t length = (planes + wanted - 1) / wanted;
    chunk = int(length < 8 ? 8 : length < 64 ? length : 64);
  }

  KERAMOS_FORCEINLINE_FUNCTION index_t tiles_r() const { return (rows + shape.rows - 1) / shape.rows; }
  index_t tiles_c() const { return (cols + shape.cols - 1) / shape.cols; }
  range<2> groups() const { return {(planes + chunk - 1) / chunk * tiles_r(), tiles_c()}; }

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    const int tile = int(g.get_group_id(0)), tiles = deep ? int(tiles_r()) : 0;
    const index_t p0 = deep ? index_t(tile / tiles) * chunk : 0;
    const index_t r0 = index_t(deep ? tile % tiles : tile) * shape.rows, c0 = g.get_group_id(1) * shape.cols;
    const int count = planes - p0 < chunk ? int(planes - p0) : chunk;
    const bool inside = radius_r <= r0 && r0 + shape.rows + radius_r <= rows && radius_c <= c0 &&
                        c0 + shape.cols + radius_c <= cols;
    if constexpr (backend::traits<Exec>::is_host) {
      // The cache is the tile there, and lines come ahead by themselves.
      const bool planes_inside = radius_p <= p0 && p0 + count + radius_p <= planes;
      if (in_c == 1 && (edge == boundary::interior || (inside && planes_inside))) {
        for (int s = 0; s < count; ++s) compute(g, direct(p0 + s, r0, c0), p0 + s, r0, c0, inside);
        return;
      }
    }
    if constexpr (!deep) {
      stage(g, 0, r0, c0, 0, inside);
      tiling::commit(g);
      tiling::wait(g);
      compute(g, staged(g, 0), 0, r0, c0, inside);
    } else {
      for (int s = 0; s < ring - 1; ++s) {
        stage(g, p0 - radius_p + s, r0, c0, s, inside);
        tiling::commit(g);
      }
      int slot = 0;  // of the first plane in use
      for (int s = 0; s < count; ++s) {
        tiling::wait<ahead - 1>(g);
        // The slot of the first plane of the round before; the last round needs no more planes.
        const int next = slot == 0 ? ring - 1 : slot - 1;
        if (s + 1 < count) stage(g, p0 + s + radius_p + ahead, r0, c0, next, inside);
        tiling::commit(g);
        compute(g, staged(g, slot), p0 + s, r0, c0, inside);
        slot = slot + 1 == ring ? 0 : slot + 1;
      }
    }
  }

 private:
  /// Where a tile's first point lies in each plane of the halo.
  struct place {
    const T* plane[2 * radius_p + 1];
    index_t row;
  };

  KERAMOS_FORCEINLINE_FUNCTION place direct(index_t p, index_t r0, index_t c0) const {
    place at;
    for (int d = 0; d <= 2 * radius_p; ++d)
      at.plane[d] = in + (p + d - radius_p) * in_p + r0 * in_r + c0 * in_c;
    at.row = in_r;
    return at;
  }
  KERAMOS_FORCEINLINE_FUNCTION place staged(group_type& g, int slot) const {
    const auto tiles = g.template local<0>();
    place at;
    KERAMOS_UNROLL
    for (int d = 0; d <= 2 * radius_p; ++d)
      at.plane[d] = tiles.data() + ((slot + d) % ring * local_rows + radius_r) * local_cols + radius_c;
    at.row = local_cols;
    return at;
  }

  /// Plane p of the tile at (r0, c0), halo included, into a slot of the ring.
  KERAMOS_FORCEINLINE_FUNCTION void stage(group_type& g, index_t p, index_t r0, index_t c0, int slot,
                                          bool inside) const {
    const auto to = g.template local<0>().sub(slot);
    const index_t from_p = at_boundary(p, planes, edge);
    const bool wraps = edge == boundary::clamp || edge == boundary::periodic;
    if (inside || !wraps || from_p < 0) {
      const matrix_view<const T> plane{in + (from_p < 0 ? 0 : from_p) * in_p, from_p < 0 ? 0 : rows, cols,
                                       in_r, in_c};
      tiling::copy(g, to, plane, r0 - radius_r, c0 - radius_c);
      return;
    }
    const auto k = *this;
    g.parallel_for_work_item([=](h_item it) {
      for (int e = it.linear; e < local_rows * local_cols; e += group_type::local_range_type::size) {
        const int i = e / local_cols, j = e % local_cols;
        const index_t r = at_boundary(r0 - radius_r + i, k.rows, k.edge);
        const index_t c = at_boundary(c0 - radius_c + j, k.cols, k.edge);
        to(i, j) = k.in[from_p * k.in_p + r * k.in_r + c * k.in_c];
      }
    });
  }

  KERAMOS_FORCEINLINE_FUNCTION void compute(group_type& g, const place& at, index_t p, index_t r0, index_t c0,
                                            bool inside) const {
    const bool open = edge == boundary::interior;
    if (open && (p < radius_p || p + radius_p >= planes)) return;
    if (inside)
      points<true>(g, at, p, r0, c0);
    else
      points<false>(g, at, p, r0, c0);
  }

  template <bool Inside>
  KERAMOS_FORCEINLINE_FUNCTION void points(group_type& g, const place& at, index_t p, index_t r0,
                                           index_t c0) const {
    const index_t keep_r = edge == boundary::interior ? radius_r : 0;
    const index_t keep_c = edge == boundary::interior ? radius_c : 0;
    const index_t first_r = keep_r - r0, last_r = rows - keep_r - r0;
    const index_t first_c = keep_c - c0, last_c = cols - keep_c - c0;
    U* const target = out + p * out_p + r0 * out_r + c0 * out_c;
    const index_t step_r = out_r, step_c = out_c;
    const F function = f;
    KERAMOS_UNROLL
    for (int s = 0; s < passes; ++s)
      g.parallel_for_work_item([=](h_item it) {
        const int i = it.i + s * lanes, j = it.j;
        if (Inside || (first_r <= i && i < last_r && first_c <= j && j < last_c))
          target[i * step_r + j * step_c] = static_cast<U>(function(around(at, i, j, p, r0, c0)));
      });
  }

  KERAMOS_FORCEINLINE_FUNCTION static point around(const place& at, int i, int j, index_t p, index_t r0,
                                                   index_t c0) {
    point u;
    const index_t offset = i * at.row + j;
    KERAMOS_UNROLL
    for (int d = 0; d <= 2 * radius_p; ++d) u.plane_[d] = at.plane[d] + offset;
    u.row_ = at.row;
    u.flipped_ = Flipped;
    if constexpr (deep) {
      u.index_ = Flipped ? id<3>(c0 + j, r0 + i, p) : id<3>(p, r0 + i, c0 + j);
    } else {
      u.index_ = Flipped ? id<2>(c0 + j, r0 + i) : id<2>(r0 + i, c0 + j);
    }
    return u;
  }
};

}  // namespace detail
}  // namespace keramos

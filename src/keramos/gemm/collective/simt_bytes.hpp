// The local memory that tiles of a GPU backend's table take.
#pragma once

#include <algorithm>
#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/tiles.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/warpgroup_bytes.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

using backend::simt::serves;
using backend::simt::tile_row;

/// Scratch that a row needs, whatever the layout of its panels.
constexpr std::size_t local_bytes(const tile_row& r) {
  const tiling::config& c = r.config;
  if (c.math == tiling::math_unit::warpgroup)
    return std::size_t(c.stages) * (c.block.m + c.block.n) * 128 + bytes_beside_stages(c.block.m);
  const auto panel = [&](int mn, int element_bytes) {
    if (c.math == tiling::math_unit::joint) return std::size_t(element_bytes) * mn * c.block.k;
    const int rows_of_mn = layout_of_panel(element_bytes, mn, c.block.k, false).size(),
              rows_of_k = layout_of_panel(element_bytes, mn, c.block.k, true).size();
    const bool either = c.math == tiling::math_unit::matrix;
    return std::size_t(element_bytes) * (either ? std::max(rows_of_mn, rows_of_k) : rows_of_mn);
  };
  return c.stages * (panel(c.block.m, bytes_of(r.types.a)) + panel(c.block.n, bytes_of(r.types.b)));
}

/// Whether teams of a row could ever have their local memory; else it has no kernels.
template <class Exec>
constexpr bool can_fit(const tile_row& r) {
  return local_bytes(r) <= backend::traits<Exec>::most_local_bytes;
}

}  // namespace keramos::detail::simt

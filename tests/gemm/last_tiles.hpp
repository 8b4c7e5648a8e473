// Plans whose last tiles are a part of their own.
#pragma once

#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan.hpp>

namespace keramos::test {

/// Has a plan of one part leave its last rows and columns, in the part's own terms, to a second part that is done alike.
inline void leave_corner(gemm_plan& plan, index_t corner_m, index_t corner_n) {
  gemm_part& first = plan.parts[0];
  gemm_part& other = plan.parts[1] = first;
  first.corner_m = corner_m, first.corner_n = corner_n;
  other.corner_m = other.corner_n = 0;
  other.band_m = corner_m, other.band_n = corner_n;
  other.m = first.transposed ? corner_n : corner_m, other.n = first.transposed ? corner_m : corner_n;
  other.m0 = first.m0 + first.m - other.m, other.n0 = first.n0 + first.n - other.n;
  plan.size = 2;
}

/// The last tiles, of so many columns of tiles.
inline detail::corner_of_tiles last_tiles(const gemm_part& part, int columns) {
  return detail::corner_of(part.transposed ? part.n : part.m, part.transposed ? part.m : part.n, part.block,
                           columns);
}

}  // namespace keramos::test

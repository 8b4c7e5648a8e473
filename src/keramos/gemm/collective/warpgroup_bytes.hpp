// The local memory that tiles of warpgroups take beside their stages, for planners too.
#pragma once

#include <cstddef>

namespace keramos::detail::simt {

/// Local memory beside the stages: their swizzle counts from multiples of 1,024 bytes, and there are barriers, and maps that are
/// being made.
inline constexpr std::size_t warpgroup_alignment = 1024, warpgroup_barrier_bytes = 256,
                             warpgroup_map_bytes = 256;
/// And of each row of a tile some columns of C on their way (c_block.hpp).
inline constexpr std::size_t bytes_of_c_row = 64;
constexpr std::size_t bytes_beside_stages(int rows) {
  return warpgroup_alignment + warpgroup_barrier_bytes + warpgroup_map_bytes +
         bytes_of_c_row * std::size_t(rows);
}

}  // namespace keramos::detail::simt

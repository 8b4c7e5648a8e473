// The local memory that tiles of warpgroups take beside their stages, for planners too.
#pragma once

#include <cstddef>

namespace keramos::detail::simt {

/// Local memory beside the stages: their swizzle counts from multiples of 1,024 bytes, and there are barriers, and maps that are
/// being made.
inline constexpr std::size_t warpgroup_alignment = 1024, warpgroup_barrier_bytes = 256,
                             warpgroup_map_bytes = 256;
inline constexpr std::size_t bytes_beside_stages =
    warpgroup_alignment + warpgroup_barrier_bytes + warpgroup_map_bytes;

}  // namespace keramos::detail::simt

// The local memory that tiles of warpgroups take beside their stages, for planners too.
#pragma once

#include <cstddef>

#include <keramos/base/scalar_type.hpp>

namespace keramos::detail::simt {

/// Local memory beside the stages: their swizzle counts from multiples of 1,024 bytes, and there are barriers, and maps that are
/// being made.
inline constexpr std::size_t warpgroup_alignment = 1024, warpgroup_barrier_bytes = 256,
                             warpgroup_map_bytes = 256;
/// And of each row of a tile some columns of C on their way, if C can be of two bytes: where elements are floats of two bytes or
/// one.
constexpr std::size_t bytes_of_c_row(scalar_type element) {
  switch (element) {
    case scalar_type::f16:
    case scalar_type::bf16:
    case scalar_type::f8:
      return 64;
    default:
      return 0;
  }
}
constexpr std::size_t bytes_beside_stages(scalar_type element, int rows) {
  return warpgroup_alignment + warpgroup_barrier_bytes + warpgroup_map_bytes +
         bytes_of_c_row(element) * std::size_t(rows);
}

}  // namespace keramos::detail::simt

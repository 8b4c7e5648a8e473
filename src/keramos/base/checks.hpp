// The checked build (KERAMOS_CHECKS=ON): bounds. What it does for local memory and phases is in
// local_tracker.hpp. Without it these functions are nothing.
#pragma once

#include <cstdio>

#include <keramos/base/kokkos.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/config.hpp>

namespace keramos::detail {

#ifdef KERAMOS_CHECKS
inline constexpr bool checks = true;
#else
inline constexpr bool checks = false;
#endif

/// Ends the program: `what` was asked for element `index` of `extent` in dimension `d`.
KERAMOS_INLINE_FUNCTION void bad_index([[maybe_unused]] const char* what, [[maybe_unused]] index_t index,
                                       [[maybe_unused]] index_t extent, [[maybe_unused]] int d) {
  KOKKOS_IF_ON_HOST(
      (char message[200];
       std::snprintf(message, sizeof message,
                     "keramos: index %lld of dimension %d is out of bounds: the extent of the %s is %lld\n",
                     static_cast<long long>(index), d, what, static_cast<long long>(extent));
       Kokkos::abort(message);))
  KOKKOS_IF_ON_DEVICE(
      (Kokkos::abort("keramos: an index is out of bounds: run on a host backend for details\n");))
}

/// In a checked build: 0 <= index < extent.
KERAMOS_FORCEINLINE_FUNCTION constexpr void check_index([[maybe_unused]] const char* what,
                                                        [[maybe_unused]] index_t index,
                                                        [[maybe_unused]] index_t extent,
                                                        [[maybe_unused]] int d) {
  if constexpr (checks) {
    if (index < 0 || index >= extent) bad_index(what, index, extent, d);
  }
}

}  // namespace keramos::detail

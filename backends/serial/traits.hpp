// Kokkos::Serial: one thread.
#pragma once

#include <keramos/backends/host/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::Serial> : host::traits<Kokkos::Serial> {
  static constexpr const char* name = "serial";
};

}  // namespace keramos::backend

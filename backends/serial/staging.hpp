// Kokkos::Serial: copies are done when they return.
#pragma once

#include <keramos/backends/host/staging.hpp>
#include <keramos/backends/interface.hpp>

namespace keramos::backend {

template <>
struct staging<Kokkos::Serial> : host::plain_copier {};

}  // namespace keramos::backend

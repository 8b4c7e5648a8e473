// Tiles of Kokkos::Serial: the host's table.
#pragma once

#include <keramos/backends/host/tuning.hpp>
#include <keramos/backends/serial/copy.hpp>
#include <keramos/backends/serial/mma.hpp>

namespace keramos::backend {

template <>
struct tuning<Kokkos::Serial> : host::tuning<Kokkos::Serial> {};

}  // namespace keramos::backend

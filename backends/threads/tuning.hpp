// Tiles of Kokkos::Threads: the host's table.
#pragma once

#include <keramos/backends/host/tuning.hpp>
#include <keramos/backends/threads/copy.hpp>
#include <keramos/backends/threads/mma.hpp>

namespace keramos::backend {

template <>
struct tuning<Kokkos::Threads> : host::tuning<Kokkos::Threads> {};

}  // namespace keramos::backend

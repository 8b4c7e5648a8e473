// Kokkos::Threads: a work-group is one thread.
#pragma once

#include <keramos/backends/host/collectives.hpp>
#include <keramos/backends/interface.hpp>

namespace keramos::backend {

template <int Size, int Team>
struct collectives<Kokkos::Threads, Size, Team> : host::collectives<Size> {};

}  // namespace keramos::backend

// Tiles of Kokkos::OpenMP: the host's table.
#pragma once

#include <keramos/backends/host/tuning.hpp>
#include <keramos/backends/openmp/copy.hpp>
#include <keramos/backends/openmp/mma.hpp>

namespace keramos::backend {

template <>
struct tuning<Kokkos::OpenMP> : host::tuning<Kokkos::OpenMP> {};

}  // namespace keramos::backend

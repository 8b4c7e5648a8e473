// `stage` on Kokkos::OpenMP: packing, as on every host backend.
#pragma once

#include <keramos/backends/host/copy.hpp>

namespace keramos::backend {

template <>
struct copy<Kokkos::OpenMP> : host::copy<Kokkos::OpenMP> {};

}  // namespace keramos::backend

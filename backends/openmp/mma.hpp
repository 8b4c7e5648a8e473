// `multiply` on Kokkos::OpenMP: the compiled micro-kernels, as on every host backend.
#pragma once

#include <keramos/backends/host/mma.hpp>

namespace keramos::backend {

template <>
struct mma<Kokkos::OpenMP> : host::mma<Kokkos::OpenMP> {};

}  // namespace keramos::backend

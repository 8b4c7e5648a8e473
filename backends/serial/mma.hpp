// `multiply` on Kokkos::Serial: the compiled micro-kernels, as on every host backend.
#pragma once

#include <keramos/backends/host/mma.hpp>

namespace keramos::backend {

template <>
struct mma<Kokkos::Serial> : host::mma<Kokkos::Serial> {};

}  // namespace keramos::backend

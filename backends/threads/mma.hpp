// `multiply` on Kokkos::Threads: the compiled micro-kernels, as on every host backend.
#pragma once

#include <keramos/backends/host/mma.hpp>

namespace keramos::backend {

template <>
struct mma<Kokkos::Threads> : host::mma<Kokkos::Threads> {};

}  // namespace keramos::backend

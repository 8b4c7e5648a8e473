// `stage` on Kokkos::Threads: packing, as on every host backend.
#pragma once

#include <keramos/backends/host/copy.hpp>

namespace keramos::backend {

template <>
struct copy<Kokkos::Threads> : host::copy<Kokkos::Threads> {};

}  // namespace keramos::backend

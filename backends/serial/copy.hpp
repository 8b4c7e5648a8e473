// `stage` on Kokkos::Serial: packing, as on every host backend.
#pragma once

#include <keramos/backends/host/copy.hpp>

namespace keramos::backend {

template <>
struct copy<Kokkos::Serial> : host::copy<Kokkos::Serial> {};

}  // namespace keramos::backend

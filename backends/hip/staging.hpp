// Kokkos::HIP: copies through registers.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/staging.hpp>

namespace keramos::backend {

template <>
struct staging<Kokkos::HIP> : simt::plain_copier {};

}  // namespace keramos::backend

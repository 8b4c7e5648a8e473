// `multiply` on Kokkos::HIP: FMA units.
#pragma once

#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/simt/mma.hpp>

namespace keramos::backend {

template <>
struct mma<Kokkos::HIP> : simt::mma<Kokkos::HIP> {};

}  // namespace keramos::backend

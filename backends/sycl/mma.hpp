// `multiply` on Kokkos::SYCL: FMA units.
#pragma once

#include <keramos/backends/simt/mma.hpp>
#include <keramos/backends/sycl/traits.hpp>

namespace keramos::backend {

template <>
struct mma<sycl_space> : simt::mma<sycl_space> {};

}  // namespace keramos::backend

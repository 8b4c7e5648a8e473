// Kokkos::SYCL: copies through registers.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/staging.hpp>
#include <keramos/backends/sycl/traits.hpp>

namespace keramos::backend {

template <>
struct staging<sycl_space> : simt::plain_copier {};

}  // namespace keramos::backend

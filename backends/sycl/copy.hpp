// `stage` on Kokkos::SYCL: copies through registers.
#pragma once

#include <keramos/backends/simt/copy.hpp>
#include <keramos/backends/sycl/traits.hpp>

namespace keramos::backend {

template <>
struct copy<sycl_space> : simt::copy<simt::plain_copier> {};

}  // namespace keramos::backend

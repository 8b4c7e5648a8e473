// `stage` on Kokkos::HIP: copies through registers.
#pragma once

#include <keramos/backends/hip/traits.hpp>
#include <keramos/backends/simt/copy.hpp>

namespace keramos::backend {

template <>
struct copy<Kokkos::HIP> : simt::copy<simt::plain_copier> {};

}  // namespace keramos::backend

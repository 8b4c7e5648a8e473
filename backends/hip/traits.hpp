// Kokkos::HIP. Wavefronts are 64 on CDNA; on RDNA a team of that size is two of 32, which is correct too.
#pragma once

#include <keramos/backends/simt/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::HIP> : simt::traits<Kokkos::HIP, 64> {
  static constexpr const char* name = "hip";
};

}  // namespace keramos::backend

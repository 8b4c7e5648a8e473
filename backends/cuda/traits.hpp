// Kokkos::Cuda.
#pragma once

#include <keramos/backends/simt/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::Cuda> : simt::traits<Kokkos::Cuda, 32> {
  static constexpr const char* name = "cuda";
};

}  // namespace keramos::backend

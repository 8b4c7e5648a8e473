// Kokkos::OpenMP: a work-group a thread, all threads of the pool.
#pragma once

#include <keramos/backends/host/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::OpenMP> : host::traits<Kokkos::OpenMP> {
  static constexpr const char* name = "openmp";
};

}  // namespace keramos::backend

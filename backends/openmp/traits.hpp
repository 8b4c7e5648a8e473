// Kokkos::OpenMP: a work-group a thread, all threads of the pool.
#pragma once

#include <omp.h>

#include <keramos/backends/host/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::OpenMP> : host::traits<Kokkos::OpenMP> {
  static constexpr const char* name = "openmp";

  /// Not in a parallel region whose threads may open no other: a launch would be one thread's, and Kokkos has
  /// team data for as many threads as its own pool has, not for those of the region.
  static bool may_launch() { return omp_get_active_level() < omp_get_max_active_levels(); }
  /// Not in a parallel region, where Kokkos would not let go of the instance again, but end the program.
  static bool may_own_instance() { return !omp_in_parallel(); }
};

}  // namespace keramos::backend

// Kokkos::Threads: a work-group a thread of Kokkos' own pool.
#pragma once

#include <keramos/backends/host/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::Threads> : host::traits<Kokkos::Threads> {
  static constexpr const char* name = "threads";
};

}  // namespace keramos::backend

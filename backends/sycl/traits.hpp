// Kokkos::SYCL. Its names stand in Kokkos::Experimental before Kokkos 4.5.
#pragma once

#include <keramos/backends/simt/traits.hpp>

namespace keramos::backend {

#if KOKKOS_VERSION >= 40500
namespace kokkos_sycl = Kokkos;
#else
namespace kokkos_sycl = Kokkos::Experimental;
#endif
using sycl_space = kokkos_sycl::SYCL;

template <>
struct traits<sycl_space> : simt::traits<sycl_space, 32> {
  static constexpr const char* name = "sycl";
};

}  // namespace keramos::backend

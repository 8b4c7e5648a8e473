// Kokkos::SYCL. The class stands in Kokkos::Experimental before Kokkos 4.5; sycl_space names either.
#pragma once

#include <keramos/backends/simt/traits.hpp>

namespace keramos::backend {

#if KOKKOS_VERSION >= 40500
using sycl_space = Kokkos::SYCL;
#else
using sycl_space = Kokkos::Experimental::SYCL;
#endif

template <>
struct traits<sycl_space> : simt::traits<sycl_space, 32> {
  static constexpr const char* name = "sycl";
};

}  // namespace keramos::backend

// Kokkos::SYCL. Its names stand in Kokkos::Experimental before Kokkos 4.5.
#pragma once

#include <sycl/sycl.hpp>

#include <keramos/backends/simt/traits.hpp>
#include <keramos/backends/sycl/xe_cores.hpp>

namespace keramos::backend {

#if KOKKOS_VERSION >= 40500
namespace kokkos_sycl = Kokkos;
#else
namespace kokkos_sycl = Kokkos::Experimental;
#endif
using sycl_space = kokkos_sycl::SYCL;

namespace sycl_backend {

/// Xe cores of a GPU, threads of a processor.
inline int units_of(const ::sycl::device& device) {
  int engines = 0;
  if (device.has(::sycl::aspect::ext_intel_gpu_eu_count_per_subslice))
    engines = int(device.get_info<::sycl::ext::intel::info::device::gpu_eu_count_per_subslice>());
  return xe_cores(int(device.get_info<::sycl::info::device::max_compute_units>()), engines);
}

}  // namespace sycl_backend

template <>
struct traits<sycl_space> : simt::traits<sycl_space, 32> {
  static constexpr const char* name = "sycl";
  static constexpr std::size_t sure_local_bytes = 36 * 1024;  // Kokkos gives a team of 1024 32 KB there
};

}  // namespace keramos::backend

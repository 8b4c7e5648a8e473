// Kokkos::OpenMP: synchronous, as on every host backend.
#pragma once

#include <keramos/backends/host/queue.hpp>
#include <keramos/backends/openmp/traits.hpp>

namespace keramos::backend {

template <>
class native_event<Kokkos::OpenMP> : public host::native_event<Kokkos::OpenMP> {};
template <>
struct stream<Kokkos::OpenMP> : host::stream<Kokkos::OpenMP> {};
template <>
struct device_list<Kokkos::OpenMP> : host::device_list<Kokkos::OpenMP> {};

inline device_info describe_device(const Kokkos::OpenMP& exec) { return host::describe_device(exec); }

}  // namespace keramos::backend

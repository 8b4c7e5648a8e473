// Kokkos::Serial: synchronous, as on every host backend.
#pragma once

#include <keramos/backends/host/queue.hpp>
#include <keramos/backends/serial/traits.hpp>

namespace keramos::backend {

template <>
class native_event<Kokkos::Serial> : public host::native_event<Kokkos::Serial> {};
template <>
struct stream<Kokkos::Serial> : host::stream<Kokkos::Serial> {};
template <>
struct device_list<Kokkos::Serial> : host::device_list<Kokkos::Serial> {};

inline device_info describe_device(const Kokkos::Serial& exec) { return host::describe_device(exec); }

}  // namespace keramos::backend

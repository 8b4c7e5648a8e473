// Kokkos::Threads: synchronous, as on every host backend.
#pragma once

#include <keramos/backends/host/queue.hpp>
#include <keramos/backends/threads/traits.hpp>

namespace keramos::backend {

template <>
class native_event<Kokkos::Threads> : public host::native_event<Kokkos::Threads> {};
template <>
struct stream<Kokkos::Threads> : host::stream<Kokkos::Threads> {};
template <>
struct device_list<Kokkos::Threads> : host::device_list<Kokkos::Threads> {};

inline device_info describe_device(const Kokkos::Threads& exec) { return host::describe_device(exec); }

}  // namespace keramos::backend

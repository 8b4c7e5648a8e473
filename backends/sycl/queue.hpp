// SYCL events: a barrier in an in-order queue. Not yet run as it stands here: no SYCL compiler was at hand. Barriers are tried
// by tests/sycl/barriers_test.cpp.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <sycl/sycl.hpp>

#include <keramos/backends/sycl/barrier.hpp>
#include <keramos/backends/sycl/traits.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/memory_kind.hpp>

namespace keramos::backend {

template <>
class native_event<sycl_space> {
 public:
  static native_event record(const sycl_space& exec) {
    native_event e;
    e.barrier_ = sycl_backend::barrier::in(exec.sycl_queue());
    return e;
  }
  static native_event completion(const sycl_space& exec) { return record(exec); }
  /// Later work on exec begins after the event; the host goes on.
  static void hold(const sycl_space& exec, const native_event& e) { e.barrier_.hold(exec.sycl_queue()); }
  void wait() const { ::sycl::event(event()).wait(); }
  bool is_complete() const {
    return event().get_info<::sycl::info::event::command_execution_status>() ==
           ::sycl::info::event_command_status::complete;
  }
  /// @throws sycl::exception unless the queue was made with enable_profiling.
  static double seconds_between(const native_event& start, const native_event& stop) {
    using end = ::sycl::info::event_profiling::command_end;
    return 1e-9 * double(stop.event().get_profiling_info<end>() - start.event().get_profiling_info<end>());
  }

 private:
  const ::sycl::event& event() const { return barrier_.event(); }

  sycl_backend::barrier barrier_;
};

template <>
struct stream<sycl_space> {
  using device_space = kokkos_sycl::SYCLDeviceUSMSpace;
  using host_space = kokkos_sycl::SYCLHostUSMSpace;
  using shared_space = kokkos_sycl::SYCLSharedUSMSpace;

  static void copy(const sycl_space& exec, void* dst, const void* src, std::size_t bytes) {
    exec.sycl_queue().memcpy(dst, src, bytes);
  }
  static void prefetch(const sycl_space& exec, const void* data, std::size_t bytes) {
    exec.sycl_queue().prefetch(data, bytes);
  }
  static void call_on_host(const sycl_space& exec, void (*function)(void*), void* argument) {
    exec.sycl_queue().submit([&](::sycl::handler& h) { h.host_task([=] { function(argument); }); });
  }
  static memory_kind kind_of(const void* data) {
    switch (::sycl::get_pointer_type(data, sycl_space().sycl_queue().get_context())) {
      case ::sycl::usm::alloc::host:
        return memory_kind::host;
      case ::sycl::usm::alloc::device:
        return memory_kind::device;
      case ::sycl::usm::alloc::shared:
        return memory_kind::shared;
      default:
        return memory_kind::unknown;
    }
  }
  /// Waits for all work; what failed on the device, if anything.
  static std::string synchronize(const sycl_space& exec) {
    try {
      exec.sycl_queue().wait_and_throw();
      return "";
    } catch (const ::sycl::exception& e) {
      return e.what();
    }
  }
};

namespace sycl_backend {

inline device_info describe(const ::sycl::device& device, int id, std::size_t local_memory_bytes) {
  namespace info = ::sycl::info::device;
  device_info d;
  d.backend = "sycl";
  d.name = device.get_info<info::name>();
  d.units = units_of(device);
  d.clock_hz = 1e6 * device.get_info<info::max_clock_frequency>();
  d.local_memory_bytes = local_memory_bytes ? local_memory_bytes : device.get_info<info::local_mem_size>();
  d.id = id;
  d.max_team_size = traits<sycl_space>::max_team_size;
  d.memory_bytes = device.get_info<info::global_mem_size>();
  d.cache_bytes = device.get_info<info::global_mem_cache_size>();
  return d;
}

/// The devices in the order of Kokkos' numbers (its SYCL/Kokkos_SYCL.cpp): the GPUs of the one runtime that it was compiled for, or
/// whatever there is. A GPU is listed once by each runtime that serves it.
inline std::vector<::sycl::device> devices() {
#if defined(KOKKOS_ARCH_INTEL_GPU) || defined(KOKKOS_IMPL_ARCH_NVIDIA_GPU) || defined(KOKKOS_ARCH_AMD_GPU)
#if defined(KOKKOS_ARCH_INTEL_GPU)
  constexpr auto runtime = ::sycl::backend::ext_oneapi_level_zero;
#elif defined(KOKKOS_IMPL_ARCH_NVIDIA_GPU)
  constexpr auto runtime = ::sycl::backend::ext_oneapi_cuda;
#else
  constexpr auto runtime = ::sycl::backend::ext_oneapi_hip;
#endif
  auto all = ::sycl::device::get_devices(::sycl::info::device_type::gpu);
  std::erase_if(all, [](const ::sycl::device& d) { return d.get_backend() != runtime; });
  return all;
#else
  return ::sycl::device::get_devices();
#endif
}

}  // namespace sycl_backend

inline device_info describe_device(const sycl_space& exec) {
  const ::sycl::device device = exec.sycl_queue().get_device();
  const auto all = sycl_backend::devices();
  const auto at = std::find(all.begin(), all.end(), device);
  return sycl_backend::describe(device, at == all.end() ? 0 : int(at - all.begin()),
                                traits<sycl_space>::local_memory_limit(exec, 1));
}

template <>
struct device_list<sycl_space> {
  static std::vector<device_info> all() {
    std::vector<device_info> devices;
    for (const auto& d : sycl_backend::devices())
      devices.push_back(sycl_backend::describe(d, int(devices.size()), 0));
    return devices;
  }
};

}  // namespace keramos::backend

// Events and device description of the host backends. Kokkos' host kernels are done when the launch
// returns, so an event is at most the time at which it was recorded.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <keramos/backends/host/traits.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/base/memory_kind.hpp>

namespace keramos::backend::host {

template <class Exec>
class native_event {
  using clock = std::chrono::steady_clock;

 public:
  static backend::native_event<Exec> record(const Exec&) {
    backend::native_event<Exec> e;
    e.at_ = clock::now();
    return e;
  }
  static backend::native_event<Exec> completion(const Exec& exec) { return record(exec); }
  /// Later work on exec begins after the event.
  static void hold(const Exec&, const native_event&) {}
  void wait() const {}
  bool is_complete() const { return true; }
  static double seconds_between(const native_event& start, const native_event& stop) {
    return std::chrono::duration<double>(stop.at_ - start.at_).count();
  }

 private:
  clock::time_point at_;
};

/// All memory is the host's, and all work is done when the call returns.
template <class Exec>
struct stream {
  using device_space = typename Exec::memory_space;
  using host_space = Kokkos::HostSpace;
  using shared_space = Kokkos::HostSpace;

  static void copy(const Exec& exec, void* dst, const void* src, std::size_t bytes) {
    using unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
    constexpr std::size_t large = std::size_t(1) << 16;  // from here on all threads copy, if Kokkos lets them
    if (bytes < large || runs_in_caller(exec)) {
      std::memcpy(dst, src, bytes);
    } else {
      const launch_lock lock;
      Kokkos::deep_copy(
          exec, Kokkos::View<char*, Kokkos::HostSpace, unmanaged>(static_cast<char*>(dst), bytes),
          Kokkos::View<const char*, Kokkos::HostSpace, unmanaged>(static_cast<const char*>(src), bytes));
    }
  }
  template <class T>
  static void fill(const Exec& exec, T* data, const T& value, std::size_t count) {
    if (runs_in_caller(exec)) {
      std::fill_n(data, count, value);
    } else {
      const launch_lock lock;
      Kokkos::deep_copy(
          exec, Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(data, count),
          value);
    }
  }
  static void prefetch(const Exec&, const void*, std::size_t) {}
  static void call_on_host(const Exec&, void (*function)(void*), void* argument) { function(argument); }
  static memory_kind kind_of(const void*) { return memory_kind::host; }
  /// Waits for all work; what failed on the device, if anything.
  static std::string synchronize(const Exec& exec) {
    if (!runs_in_caller(exec)) exec.fence();
    return "";
  }
};

/// The processor's model name as the kernel gives it, or the word "host".
inline std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "host";
}

template <class Exec>
device_info describe_device(const Exec& exec) {
  using traits = backend::traits<Exec>;
  device_info d;
  d.backend = traits::name;
  d.name = processor_name();
  d.units = int(exec.concurrency());
  d.local_memory_bytes = traits::local_memory_limit(exec, 1);
  d.is_host = true;
  d.memory_bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE));
  return d;
}

template <class Exec>
struct device_list {
  static std::vector<device_info> all() {
    if (Kokkos::is_initialized()) return {describe_device(Exec())};
    device_info d;
    d.backend = backend::traits<Exec>::name;
    d.name = processor_name();
    d.units = std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>
                  ? int(std::max(1u, std::thread::hardware_concurrency()))
                  : 1;
    d.local_memory_bytes = std::size_t(Kokkos::TeamPolicy<Exec>::scratch_size_max(1));
    d.is_host = true;
    d.memory_bytes = std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGE_SIZE));
    return {d};
  }
};

}  // namespace keramos::backend::host

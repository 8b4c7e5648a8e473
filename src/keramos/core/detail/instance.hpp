// Execution space instances, and what they may reach. Internal.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <string>

#include <Kokkos_Core.hpp>

#include <keramos/base/error.hpp>
#include <keramos/base/kokkos.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/base/memory_kind.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos::detail {

/// Held while Kokkos runs a kernel or copy; of devices it is nothing.
template <class Exec>
struct launch_lock {};
template <class Exec>
requires(backend::traits<Exec>::is_host) struct launch_lock<Exec> : backend::traits<Exec>::launch_lock {
};

/// Calls `launch()`, which hands one kernel to Kokkos for a device; the first time no other thread does. Kokkos (4.3 and newer)
/// then enters what CUDA or HIP says of the kernel into a table, without a lock. Later launches only read it.
template <class Launch>
[[gnu::always_inline]] inline void launch_first_alone(const Launch& launch) {
  static std::atomic<bool> was_launched = false;
  static std::mutex mutex;
  if (was_launched.load(std::memory_order_acquire)) return launch();
  const std::lock_guard lock(mutex);
  launch();
  was_launched.store(true, std::memory_order_release);
}

/// Held while Kokkos fills memory or copies; on a device only if it does so by kernels, or else it may wait. Which kernels is
/// Kokkos' choice: none is known to have been launched before (launch_first_alone), so one thread at a time launches any.
template <class Exec>
struct fill_lock : launch_lock<Exec> {
  explicit fill_lock(bool /*by_kernels*/) {}
};
KERAMOS_EXPORT inline std::mutex& device_fills() {
  static std::mutex mutex;
  return mutex;
}
template <class Exec>
requires(!backend::traits<Exec>::is_host) struct fill_lock<Exec> {
  explicit fill_lock(bool by_kernels) : lock(device_fills(), std::defer_lock) {
    if (by_kernels) lock.lock();
  }
  std::unique_lock<std::mutex> lock;
};
/// Whether it uses kernels for these Views: those that are empty, or in memory that kernels do not reach, it waits for.
template <class Exec, class... V>
bool by_kernels(const V&... v) {
  return (Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible && ...) &&
         ((v.size() > 0) && ...);
}

/// Waits for all work on `exec`. On a host that is done when its call returns: a fence of Kokkos only tells its tools.
template <class Exec>
void fence(const Exec& exec) {
  if constexpr (backend::traits<Exec>::is_host) {
    if (backend::traits<Exec>::runs_in_caller(exec)) return;
  }
  exec.fence();
}

/// Throws if kernels of `Exec` cannot reach `data`.
template <class Exec, class T>
void check_reachable(const char* function, const T* data, std::size_t count) {
  if (count == 0) return;
  if (!data)
    throw invalid_argument(std::string(function) + ": the pointer is null but " + std::to_string(count) +
                           " elements are to be written; allocate it or pass a count of 0");
  if constexpr (!backend::traits<Exec>::is_host) {
    if (backend::stream<Exec>::kind_of(data) == memory_kind::unknown)
      throw memory_error(std::string(function) + ": the pointer leads to host memory that kernels on " +
                         backend::traits<Exec>::name +
                         " cannot reach; allocate it with malloc_device or malloc_shared");
  }
}

}  // namespace keramos::detail

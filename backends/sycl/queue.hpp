// SYCL events: a barrier in an in-order queue. Not yet run: no SYCL compiler was at hand.
#pragma once

#include <string>

#include <sycl/sycl.hpp>

#include <keramos/backends/sycl/traits.hpp>
#include <keramos/core/device_info.hpp>

namespace keramos::backend {

template <>
class native_event<sycl_space> {
 public:
  static native_event record(const sycl_space& exec) {
    native_event e;
    sycl::queue q = exec.sycl_queue();
    e.event_ = q.ext_oneapi_submit_barrier();
    return e;
  }
  static native_event completion(const sycl_space& exec) { return record(exec); }
  void wait() const { sycl::event(event_).wait(); }
  bool is_complete() const {
    return event_.get_info<sycl::info::event::command_execution_status>() ==
           sycl::info::event_command_status::complete;
  }
  /// @throws sycl::exception unless the queue was made with enable_profiling.
  static double seconds_between(const native_event& start, const native_event& stop) {
    using end = sycl::info::event_profiling::command_end;
    return 1e-9 * double(stop.event_.get_profiling_info<end>() - start.event_.get_profiling_info<end>());
  }

 private:
  sycl::event event_;
};

inline device_info describe_device(const sycl_space& exec) {
  const sycl::device device = exec.sycl_queue().get_device();
  return {"sycl", device.get_info<sycl::info::device::name>(),
          int(device.get_info<sycl::info::device::max_compute_units>()),
          1e6 * device.get_info<sycl::info::device::max_clock_frequency>(),
          traits<sycl_space>::local_memory_limit(exec, 1)};
}

}  // namespace keramos::backend

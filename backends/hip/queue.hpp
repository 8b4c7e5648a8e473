// HIP events. Not yet run: no HIP device was at hand.
#pragma once

#include <memory>
#include <string>

#include <hip/hip_runtime.h>

#include <keramos/backends/hip/traits.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>

namespace keramos::backend {

namespace hip {

inline void check(hipError_t status, const char* what) {
  if (status != hipSuccess)
    throw error(std::string("keramos: ") + what + " failed: " + hipGetErrorString(status));
}

}  // namespace hip

template <>
class native_event<Kokkos::HIP> {
 public:
  static native_event record(const Kokkos::HIP& exec) {
    hipEvent_t created = nullptr;
    hip::check(hipEventCreate(&created), "hipEventCreate");
    native_event e;
    e.event_ = {created, [](hipEvent_t used) { (void)hipEventDestroy(used); }};
    hip::check(hipEventRecord(created, exec.hip_stream()), "hipEventRecord");
    return e;
  }
  static native_event completion(const Kokkos::HIP& exec) { return record(exec); }
  void wait() const { hip::check(hipEventSynchronize(event_.get()), "hipEventSynchronize"); }
  bool is_complete() const {
    const hipError_t status = hipEventQuery(event_.get());
    if (status == hipErrorNotReady) {
      (void)hipGetLastError();  // not an error, but the runtime remembers it as one
      return false;
    }
    hip::check(status, "hipEventQuery");
    return true;
  }
  static double seconds_between(const native_event& start, const native_event& stop) {
    float ms = 0;
    hip::check(hipEventElapsedTime(&ms, start.event_.get(), stop.event_.get()), "hipEventElapsedTime");
    return 1e-3 * ms;
  }

 private:
  std::shared_ptr<ihipEvent_t> event_;
};

inline device_info describe_device(const Kokkos::HIP& exec) {
  int device = 0;
  hip::check(hipGetDevice(&device), "hipGetDevice");
  hipDeviceProp_t prop{};
  hip::check(hipGetDeviceProperties(&prop, device), "hipGetDeviceProperties");
  return {"hip", prop.name, prop.multiProcessorCount, 1e3 * prop.clockRate,
          traits<Kokkos::HIP>::local_memory_limit(exec, 1)};
}

}  // namespace keramos::backend

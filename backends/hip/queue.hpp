// HIP events. Not yet run: no HIP device was at hand.
#pragma once

#include <memory>
#include <string>

#include <hip/hip_runtime.h>

#include <keramos/backends/hip/traits.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>
#include <keramos/core/memory_kind.hpp>

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
  /// Later work on exec begins after the event; the host goes on.
  static void hold(const Kokkos::HIP& exec, const native_event& e) {
    hip::check(hipStreamWaitEvent(exec.hip_stream(), e.event_.get(), 0), "hipStreamWaitEvent");
  }
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

template <>
struct stream<Kokkos::HIP> {
  using device_space = Kokkos::HIPSpace;
  using host_space = Kokkos::HIPHostPinnedSpace;
  using shared_space = Kokkos::HIPManagedSpace;

  static void copy(const Kokkos::HIP& exec, void* dst, const void* src, std::size_t bytes) {
    hip::check(hipMemcpyAsync(dst, src, bytes, hipMemcpyDefault, exec.hip_stream()), "hipMemcpyAsync");
  }
  static void prefetch(const Kokkos::HIP& exec, const void* data, std::size_t bytes) {
    if (kind_of(data) != memory_kind::shared) return;
    int device = 0;
    hip::check(hipGetDevice(&device), "hipGetDevice");
    hip::check(hipMemPrefetchAsync(data, bytes, device, exec.hip_stream()), "hipMemPrefetchAsync");
  }
  static void call_on_host(const Kokkos::HIP& exec, void (*function)(void*), void* argument) {
    hip::check(hipLaunchHostFunc(exec.hip_stream(), function, argument), "hipLaunchHostFunc");
  }
  static memory_kind kind_of(const void* data) {
    hipPointerAttribute_t of{};
    if (hipPointerGetAttributes(&of, data) != hipSuccess) {
      (void)hipGetLastError();  // a pointer that is not the runtime's is no error
      return memory_kind::unknown;
    }
    if (of.isManaged) return memory_kind::shared;
    return of.type == hipMemoryTypeDevice ? memory_kind::device
           : of.type == hipMemoryTypeHost ? memory_kind::host
                                          : memory_kind::unknown;
  }
  /// Waits for all work; what failed on the device, if anything.
  static std::string synchronize(const Kokkos::HIP& exec) {
    const hipError_t status = hipStreamSynchronize(exec.hip_stream());
    return status == hipSuccess ? "" : hipGetErrorString(status);
  }
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

// HIP events. Not yet run: no HIP device was at hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hip/hip_runtime.h>

#include <keramos/backends/hip/traits.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/base/memory_kind.hpp>

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
    hip::check(hipSetDevice(exec.hip_device()),
               "hipSetDevice");  // a thread that never called Kokkos has device 0
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
    if (kind_of(data) != memory_kind::shared || !exec.hip_device_prop().concurrentManagedAccess) return;
    hip::check(hipMemPrefetchAsync(data, bytes, exec.hip_device(), exec.hip_stream()), "hipMemPrefetchAsync");
  }
  /// Whether work is recorded for a graph, not done.
  static bool is_captured(const Kokkos::HIP& exec) {
    hipStreamCaptureStatus status{};
    hip::check(hipStreamIsCapturing(exec.hip_stream(), &status), "hipStreamIsCapturing");
    return status != hipStreamCaptureStatusNone;
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
#if HIP_VERSION_MAJOR >= 6
    const hipMemoryType type = of.type;
#else
    const hipMemoryType type = of.memoryType;
#endif
    return type == hipMemoryTypeDevice ? memory_kind::device
           : type == hipMemoryTypeHost ? memory_kind::host
                                       : memory_kind::unknown;
  }
  /// Waits for all work; what failed on the device, if anything.
  static std::string synchronize(const Kokkos::HIP& exec) {
    const hipError_t status = hipStreamSynchronize(exec.hip_stream());
    return status == hipSuccess ? "" : hipGetErrorString(status);
  }
};

namespace hip {

inline device_info describe(int device, std::size_t local_memory_bytes) {
  hipDeviceProp_t prop{};
  check(hipGetDeviceProperties(&prop, device), "hipGetDeviceProperties");
  device_info d;
  d.backend = "hip";
  d.name = prop.name;
  d.units = prop.multiProcessorCount;
  d.clock_hz = 1e3 * prop.clockRate;
  d.local_memory_bytes = local_memory_bytes ? local_memory_bytes : prop.sharedMemPerBlock;
  d.id = device;
  d.max_team_size = traits<Kokkos::HIP>::max_team_size;
  d.architecture = prop.gcnArchName;
  d.memory_bytes = prop.totalGlobalMem;
  d.cache_bytes = std::size_t(prop.l2CacheSize);
  return d;
}

}  // namespace hip

inline device_info describe_device(const Kokkos::HIP& exec) {
  return hip::describe(exec.hip_device(), traits<Kokkos::HIP>::local_memory_limit(exec, 1));
}

template <>
struct device_list<Kokkos::HIP> {
  static std::vector<device_info> all() {
    int count = 0;
    if (hipGetDeviceCount(&count) != hipSuccess) {
      (void)hipGetLastError();  // no driver, no device
      return {};
    }
    std::vector<device_info> devices;
    for (int d = 0; d < count; ++d) devices.push_back(hip::describe(d, 0));
    return devices;
  }
};

}  // namespace keramos::backend

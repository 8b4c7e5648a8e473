// CUDA events, kept in a pool because creating one costs as much as recording five.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include <keramos/backends/cuda/traits.hpp>
#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/base/memory_kind.hpp>

namespace keramos::backend {

namespace cuda {

inline void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw error(std::string("keramos: ") + what + " failed: " + cudaGetErrorString(status));
}

/// Events that are not in use, by device, with and without a time, which costs a microsecond on the device.
class event_pool {
 public:
  static event_pool& instance() {
    static event_pool* pool = new event_pool;  // never destroyed: events may outlive static objects
    return *pool;
  }

  std::shared_ptr<CUevent_st> take(int device, bool timed) {
    const std::size_t kind = 2 * std::size_t(device) + timed;
    cudaEvent_t e = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (free_.size() <= kind) free_.resize(kind + 1);
      if (!free_[kind].empty()) e = free_[kind].back(), free_[kind].pop_back();
    }
    if (!e) {
      check(cudaSetDevice(device), "cudaSetDevice");  // a thread that never called Kokkos has device 0
      check(cudaEventCreateWithFlags(&e, timed ? cudaEventDefault : cudaEventDisableTiming),
            "cudaEventCreate");
    }
    return {e, [this, kind](cudaEvent_t used) {
              std::lock_guard lock(mutex_);
              free_[kind].push_back(used);
            }};
  }

 private:
  std::mutex mutex_;
  std::vector<std::vector<cudaEvent_t>> free_;
};

}  // namespace cuda

template <>
class native_event<Kokkos::Cuda> {
 public:
  static native_event record(const Kokkos::Cuda& exec) { return record(exec, true); }
  static native_event completion(const Kokkos::Cuda& exec) { return record(exec, false); }
  /// Later work on exec begins after the event; the host goes on.
  static void hold(const Kokkos::Cuda& exec, const native_event& e) {
    cuda::check(cudaStreamWaitEvent(exec.cuda_stream(), e.event_.get(), 0), "cudaStreamWaitEvent");
  }
  void wait() const { cuda::check(cudaEventSynchronize(event_.get()), "cudaEventSynchronize"); }
  bool is_complete() const {
    const cudaError_t status = cudaEventQuery(event_.get());
    if (status == cudaErrorNotReady) {
      (void)cudaGetLastError();  // not an error, but the runtime remembers it as one
      return false;
    }
    cuda::check(status, "cudaEventQuery");
    return true;
  }
  static double seconds_between(const native_event& start, const native_event& stop) {
    float ms = 0;
    cuda::check(cudaEventElapsedTime(&ms, start.event_.get(), stop.event_.get()), "cudaEventElapsedTime");
    return 1e-3 * ms;
  }

 private:
  static native_event record(const Kokkos::Cuda& exec, bool timed) {
    native_event e;
    e.event_ = cuda::event_pool::instance().take(exec.cuda_device(), timed);
    cuda::check(cudaEventRecord(e.event_.get(), exec.cuda_stream()), "cudaEventRecord");
    return e;
  }

  std::shared_ptr<CUevent_st> event_;
};

template <>
struct stream<Kokkos::Cuda> {
  using device_space = Kokkos::CudaSpace;
  using host_space = Kokkos::CudaHostPinnedSpace;
  using shared_space = Kokkos::CudaUVMSpace;

  static void copy(const Kokkos::Cuda& exec, void* dst, const void* src, std::size_t bytes) {
    cuda::check(cudaMemcpyAsync(dst, src, bytes, cudaMemcpyDefault, exec.cuda_stream()), "cudaMemcpyAsync");
  }
  static void prefetch(const Kokkos::Cuda& exec, const void* data, std::size_t bytes) {
    if (kind_of(data) != memory_kind::shared || !exec.cuda_device_prop().concurrentManagedAccess) return;
#if CUDART_VERSION >= 13000
    const cudaMemLocation to{cudaMemLocationTypeDevice, exec.cuda_device()};
    const cudaError_t status = cudaMemPrefetchAsync(data, bytes, to, 0, exec.cuda_stream());
#else
    const cudaError_t status = cudaMemPrefetchAsync(data, bytes, exec.cuda_device(), exec.cuda_stream());
#endif
    cuda::check(status, "cudaMemPrefetchAsync");
  }
  /// Whether work is recorded for a graph, not done.
  static bool is_captured(const Kokkos::Cuda& exec) {
    cudaStreamCaptureStatus status{};
    cuda::check(cudaStreamIsCapturing(exec.cuda_stream(), &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }
  static void call_on_host(const Kokkos::Cuda& exec, void (*function)(void*), void* argument) {
    cuda::check(cudaLaunchHostFunc(exec.cuda_stream(), function, argument), "cudaLaunchHostFunc");
  }
  static memory_kind kind_of(const void* data) {
    cudaPointerAttributes of{};
    if (cudaPointerGetAttributes(&of, data) != cudaSuccess) {
      (void)cudaGetLastError();  // a pointer that is not the runtime's is no error
      return memory_kind::unknown;
    }
    switch (of.type) {
      case cudaMemoryTypeHost:
        return memory_kind::host;
      case cudaMemoryTypeDevice:
        return memory_kind::device;
      case cudaMemoryTypeManaged:
        return memory_kind::shared;
      default:
        return memory_kind::unknown;
    }
  }
  /// Waits for all work; what failed on the device, if anything. Not by Kokkos' fence, which would abort.
  static std::string synchronize(const Kokkos::Cuda& exec) {
    const cudaError_t status = cudaStreamSynchronize(exec.cuda_stream());
    return status == cudaSuccess ? "" : cudaGetErrorString(status);
  }
};

namespace cuda {

inline device_info describe(int device, std::size_t local_memory_bytes) {
  cudaDeviceProp prop{};
  check(cudaGetDeviceProperties(&prop, device), "cudaGetDeviceProperties");
  int khz = 0;
  check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "cudaDeviceGetAttribute");
  device_info d;
  d.backend = "cuda";
  d.name = prop.name;
  d.units = prop.multiProcessorCount;
  d.clock_hz = 1e3 * khz;
  d.local_memory_bytes = local_memory_bytes ? local_memory_bytes : prop.sharedMemPerBlock;
  d.id = device;
  d.max_team_size = traits<Kokkos::Cuda>::max_team_size;
  d.architecture = "sm_" + std::to_string(10 * prop.major + prop.minor);
  d.memory_bytes = prop.totalGlobalMem;
  d.cache_bytes = std::size_t(prop.l2CacheSize);
  return d;
}

}  // namespace cuda

inline device_info describe_device(const Kokkos::Cuda& exec) {
  return cuda::describe(exec.cuda_device(), traits<Kokkos::Cuda>::local_memory_limit(exec, 1));
}

template <>
struct device_list<Kokkos::Cuda> {
  static std::vector<device_info> all() {
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) {
      (void)cudaGetLastError();  // no driver, no device
      return {};
    }
    std::vector<device_info> devices;
    for (int d = 0; d < count; ++d) devices.push_back(cuda::describe(d, 0));
    return devices;
  }
};

}  // namespace keramos::backend

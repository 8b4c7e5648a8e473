// NCCL as the link between NVIDIA's devices.
#include <cuda_runtime.h>
#include <nccl.h>

#include <keramos/backends/cuda/queue.hpp>
#include <keramos/backends/simt/nccl_link.hpp>

namespace keramos::backend {
namespace {

/// A stream whose blocks go before those of others where a multiprocessor has room for one.
struct urgent_stream {
  cudaStream_t stream = nullptr;

  urgent_stream() {
    int least = 0, greatest = 0;
    cuda::check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    cuda::check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
                "cudaStreamCreateWithPriority");
  }
  urgent_stream(const urgent_stream&) = delete;
  urgent_stream& operator=(const urgent_stream&) = delete;
  ~urgent_stream() { (void)cudaStreamDestroy(stream); }

  bool is_idle() const {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) cuda::check(state, "cudaStreamQuery");
    return state == cudaSuccess;
  }
};

}  // namespace

template <>
device_link<Kokkos::Cuda>::id device_link<Kokkos::Cuda>::make_id() {
  return nccl::make_id<id>();
}
template <>
std::unique_ptr<device_link<Kokkos::Cuda>> device_link<Kokkos::Cuda>::connect(const id& of_all, int rank,
                                                                              int ranks) {
  return std::make_unique<nccl_link<Kokkos::Cuda, urgent_stream>>("NCCL", of_all, rank, ranks);
}
template <>
std::string device_link<Kokkos::Cuda>::device_of(const Kokkos::Cuda& exec) {
  cudaDeviceProp properties{};
  cuda::check(cudaGetDeviceProperties(&properties, exec.cuda_device()), "cudaGetDeviceProperties");
  return std::string(properties.uuid.bytes, sizeof(properties.uuid.bytes));
}

}  // namespace keramos::backend

// What compiled kernels need on NVIDIA GPUs. A kernel's entry point is Kokkos' own affair; a capture of the
// stream as a graph names it without running it, and the CUDA runtime tells the rest.
#include <cuda_runtime.h>

#include <stdexcept>

#include "kernels.hpp"
#include "machine_queue.hpp"

namespace keramos::perf {
namespace {

void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) {
    throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
  }
}

// A stream, and what is captured from it.
class captured_stream {
 public:
  captured_stream() { require(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~captured_stream() {
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  captured_stream(const captured_stream&) = delete;
  captured_stream& operator=(const captured_stream&) = delete;

  cudaStream_t stream() const { return stream_; }
  void begin() {
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), "cudaStreamBeginCapture");
  }
  std::vector<cudaGraphNode_t> end() {
    require(cudaStreamEndCapture(stream_, &graph_), "cudaStreamEndCapture");
    std::size_t count = 0;
    require(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    std::vector<cudaGraphNode_t> nodes(count);
    require(cudaGraphGetNodes(graph_, nodes.data(), &count), "cudaGraphGetNodes");
    return nodes;
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
};

launch_figures figures_of(const cudaKernelNodeParams& launch) {
  cudaFuncAttributes attributes{};
  require(cudaFuncGetAttributes(&attributes, launch.func), "cudaFuncGetAttributes");
  launch_figures f;
  f.teams = std::int64_t(launch.gridDim.x) * launch.gridDim.y * launch.gridDim.z;
  f.threads = std::int64_t(launch.blockDim.x) * launch.blockDim.y * launch.blockDim.z;
  f.registers = attributes.numRegs;
  f.scratch_bytes = std::int64_t(attributes.sharedSizeBytes) + launch.sharedMemBytes;
  f.spill_bytes = std::int64_t(attributes.localSizeBytes);
  int active = 0;
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&active, launch.func, int(f.threads),
                                                        launch.sharedMemBytes),
          "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  f.active_teams = active;
  return f;
}

}  // namespace

unit_limits device_unit_limits() {
  int device = 0;
  cudaDeviceProp p{};
  require(cudaGetDevice(&device), "cudaGetDevice");
  require(cudaGetDeviceProperties(&p, device), "cudaGetDeviceProperties");
  unit_limits unit;
  unit.threads = p.maxThreadsPerMultiProcessor;
  unit.teams = p.maxBlocksPerMultiProcessor;
  unit.threads_of_a_team = p.maxThreadsPerBlock;
  unit.registers = p.regsPerMultiprocessor;
  unit.registers_of_a_thread = 255;
  unit.scratch_bytes = std::int64_t(p.sharedMemPerMultiprocessor);
  unit.warp = p.warpSize;
  // Of the CUDA occupancy calculator; the runtime does not tell them.
  unit.register_granularity = 256;
  unit.register_banks = 4;
  unit.scratch_granularity = p.major >= 8 ? 128 : 256;
  unit.scratch_reserved_of_a_team = std::int64_t(p.reservedSharedMemPerBlock);
  return unit;
}

std::string host_micro_kernel(data_type) { return {}; }

std::vector<launch_figures> launches_of(const std::function<void(keramos::queue&)>& enqueue) {
  captured_stream capture;
  keramos::queue q{Kokkos::Cuda(capture.stream())};
  enqueue(q);  // so that what is allocated and loaded once is there
  q.wait();
  capture.begin();
  enqueue(q);
  std::vector<launch_figures> launches;
  for (const auto node : capture.end()) {
    cudaGraphNodeType type{};
    require(cudaGraphNodeGetType(node, &type), "cudaGraphNodeGetType");
    if (type != cudaGraphNodeTypeKernel) continue;
    cudaKernelNodeParams launch{};
    require(cudaGraphKernelNodeGetParams(node, &launch), "cudaGraphKernelNodeGetParams");
    launches.push_back(figures_of(launch));
  }
  return launches;
}

}  // namespace keramos::perf

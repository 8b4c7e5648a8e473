// Kernels for AMD GPUs that something else than Kokkos launches, and a team for them: one thread of a block for each of its own.
#pragma once

#include <cstddef>

#include <hip/hip_runtime.h>

#include <Kokkos_Core.hpp>

#include <keramos/enabled_backends.hpp>

#define KERAMOS_ND_RANGE_KERNEL(threads) extern "C" __global__ __launch_bounds__(threads)
#define KERAMOS_SINGLE_TASK_KERNEL extern "C" __global__

namespace keramos::test::device {

using space = Kokkos::HIP;

/// What kernels ask of a team.
struct team {
  using execution_space = space;
  struct scratch {
    char* memory;
    __device__ void* get_shmem_aligned(std::size_t, std::size_t) const { return memory; }
  };

  char* memory;

  __device__ int team_rank() const { return int(threadIdx.x); }
  __device__ int league_rank() const { return int(blockIdx.x); }
  __device__ int league_size() const { return 1; }  // of one die
  __device__ scratch team_scratch(int) const { return {memory}; }
  __device__ void team_barrier() const { __syncthreads(); }
  template <class T>
  __device__ void team_broadcast(T& x, int from) const {
    __shared__ T shared;
    team_barrier();
    if (team_rank() == from) shared = x;
    team_barrier();
    x = shared;
  }
};

template <int Threads, std::size_t Bytes>
__device__ team team_with() {
  alignas(128) __shared__ char memory[Bytes];
  return {memory};
}

/// The planner's functions run on hosts alone, so tiles stay where they are.
template <class Collective, class Problem>
constexpr bool can_shift_m(const Problem&) {
  return false;
}
template <class Collective, class Problem>
constexpr bool can_shift_n(const Problem&) {
  return false;
}

}  // namespace keramos::test::device

// What the GPU backends (cuda, hip, sycl) share: a work-group is a team of threads on one
// multiprocessor, and local memory is Kokkos' level-0 scratch (shared memory).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <keramos/backends/interface.hpp>
#include <keramos/backends/simt/memory.hpp>

namespace keramos::backend::simt {

template <class Exec, int Warp>
struct traits {
  using team_member = typename Kokkos::TeamPolicy<Exec>::member_type;

  static constexpr bool is_host = false;
  static constexpr int warp_size = Warp;
  static constexpr int max_team_size = 1024;
  /// Threads of all teams of a launch.
  static constexpr std::int64_t most_threads = std::numeric_limits<std::int64_t>::max();

  /// Bytes of a kernel that Kokkos passes to a launch as an argument. It does so with less than 512 bytes, of which 128 are its
  /// own (ConstantMemoryUseThreshold and ParallelFor of Kokkos 4.6, CUDA and HIP); others may take a few more. A larger kernel
  /// goes through constant memory, for which its launch waits until the kernel before has read its own from there.
  static constexpr std::size_t most_kernel_bytes = 368;

  /// Whether kernels become bytes before Kokkos copies them (core/detail/launch.hpp).
  static constexpr bool sends_bytes = false;

  /// Threads for a work-group of `items` items: one an item, in whole warps, as far as they go.
  static constexpr int team_size(int items) {
    const int threads = (items + Warp - 1) / Warp * Warp;
    return threads < max_team_size ? threads : max_team_size;
  }

  /// How many teams of a kernel to leave registers for, of those that its author asks for: Kokkos refuses a
  /// launch whose bounds promise more than a multiprocessor holds. Backends that know the architecture cut it.
  static constexpr int teams_per_unit(int wanted, int /*team_size*/, std::size_t /*bytes*/) { return wanted; }

  /// The same of 256 threads that multiply matrices of elements T by vectors.
  template <class T>
  static constexpr int vector_teams_per_unit = 3;

  /// Whether teams may be dealt out to several dies: then the device model says to how many.
  static constexpr bool several_dies = false;

  /// Whether one thread's fence behind a team's barrier is one for what all threads stored before it.
  static constexpr bool fence_covers_team = true;

  /// No team can have more local memory, as far as it is known when kernels are compiled.
  static constexpr std::size_t most_local_bytes = std::size_t(-1);

  /// So much local memory a group of 256 items can have on every device and Kokkos.
  static constexpr std::size_t sure_local_bytes = 40 * 1024;

  /// Bytes of local memory that a group on a team of `team_size` can have. Kokkos keeps some scratch
  /// per thread for itself; scratch_size_max assumes 1024 threads, so smaller teams have more.
  static std::size_t local_memory_limit(const Exec&, int team_size) {
    return std::size_t(Kokkos::TeamPolicy<Exec>::scratch_size_max(0)) + (1024 - team_size) * sizeof(double) -
           256;
  }
};

}  // namespace keramos::backend::simt

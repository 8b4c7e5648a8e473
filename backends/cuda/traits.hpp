// Kokkos::Cuda.
#pragma once

#include <cstddef>

#include <keramos/backends/simt/traits.hpp>
#include <keramos/config.hpp>

// Kokkos compiles for compute capability 7.5 or less.
#if defined(KOKKOS_ARCH_TURING75) || defined(KOKKOS_ARCH_VOLTA) || defined(KOKKOS_ARCH_PASCAL) || \
    defined(KOKKOS_ARCH_MAXWELL)
#define KERAMOS_CUDA_BEFORE_AMPERE
#endif

namespace keramos::backend {

template <>
struct traits<Kokkos::Cuda> : simt::traits<Kokkos::Cuda, 32> {
  static constexpr const char* name = "cuda";
  static constexpr bool sends_bytes = true;  // lambdas of nvcc copy themselves by the heap

  // Of the architecture that Kokkos compiles for (CUDA C++ Programming Guide, "Technical Specifications per
  // Compute Capability"): bytes of shared memory, threads and blocks of a multiprocessor.
#if defined(KOKKOS_ARCH_TURING75)
  static constexpr std::size_t unit_bytes = 64 * 1024;
  static constexpr int unit_threads = 1024, unit_teams = 16;
#elif defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_ADA89) || defined(KOKKOS_ARCH_BLACKWELL120) || \
    defined(KOKKOS_ARCH_BLACKWELL121)
  static constexpr std::size_t unit_bytes = 100 * 1024;
  static constexpr int unit_threads = 1536, unit_teams = 16;
#elif defined(KOKKOS_ARCH_VOLTA)
  static constexpr std::size_t unit_bytes = 96 * 1024;
  static constexpr int unit_threads = 2048, unit_teams = 32;
#elif defined(KOKKOS_ARCH_AMPERE87)
  static constexpr std::size_t unit_bytes = 164 * 1024;
  static constexpr int unit_threads = 1536, unit_teams = 16;
#elif defined(KOKKOS_ARCH_AMPERE80)
  static constexpr std::size_t unit_bytes = 164 * 1024;
  static constexpr int unit_threads = 2048, unit_teams = 32;
#else
  static constexpr std::size_t unit_bytes = 228 * 1024;
  static constexpr int unit_threads = 2048, unit_teams = 32;
#endif

  /// The highest compute capability (times 10) whose instructions kernels may have. One for a GPU before 8.0 has nothing in their
  /// place, also where a later GPU runs it.
#if defined(KERAMOS_CUDA_BEFORE_AMPERE)
  static constexpr int most_arch = 75;
#else
  static constexpr int most_arch = 1000;
#endif

#if defined(KERAMOS_CUDA_WIDE_SCRATCH)
  static constexpr std::size_t most_local_bytes = unit_bytes;
#else
  static constexpr std::size_t most_local_bytes = 48 * 1024;
#endif

  /// Beside its own bytes a team takes some of Kokkos' and a KB of the system's.
  static constexpr int teams_per_unit(int wanted, int team_size, std::size_t bytes) {
    const int fit = int(unit_bytes / (bytes + 1024 + 256 + 8 * std::size_t(team_size)));
    const int threads = unit_threads / team_size;
    const int most = fit < threads ? fit : threads < unit_teams ? threads : unit_teams;
    return most < 1 ? 1 : wanted < most ? wanted : most;
  }
};

}  // namespace keramos::backend

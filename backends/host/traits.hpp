// What the host backends (serial, openmp, threads) share. A work-group runs on one thread: Kokkos'
// host teams are no larger than the thread pool, and phases become plain loops.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>

namespace keramos::backend::host {

template <class Exec>
struct traits {
  static constexpr bool is_host = true;
  static constexpr bool sends_bytes = false;
  static constexpr bool fence_covers_team = true;

  /// Threads for a work-group of `items` items.
  static constexpr int team_size(int /*items*/) { return 1; }

  /// Kokkos' scratch level that holds `bytes`: its small one has 32 KiB, its large one 20 MiB or more.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int scratch_level(std::size_t bytes) {
    return bytes <= 31 * 1024 ? 0 : 1;
  }

  /// Bytes of local memory that a group on a team of `team_size` can have.
  static std::size_t local_memory_limit(const Exec&, int /*team_size*/) {
    return std::size_t(Kokkos::TeamPolicy<Exec>::scratch_size_max(1)) - 256;
  }
};

}  // namespace keramos::backend::host

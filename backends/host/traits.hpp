// What the host backends (serial, openmp, threads) share. A work-group runs on one thread: Kokkos'
// host teams are no larger than the thread pool, and phases become plain loops.
#pragma once

#include <cstddef>

#include <keramos/backends/host/team.hpp>
#include <keramos/backends/interface.hpp>

namespace keramos::backend::host {

template <class Exec>
struct traits {
  using team_member = team;

  static constexpr bool is_host = true;
  static constexpr bool sends_bytes = false;
  static constexpr bool fence_covers_team = true;

  /// Threads for a work-group of `items` items.
  static constexpr int team_size(int /*items*/) { return 1; }

  /// Bytes of local memory that a group on a team of `team_size` can have: as much as Kokkos' large scratch.
  static std::size_t local_memory_limit(const Exec&, int /*team_size*/) {
    return std::size_t(Kokkos::TeamPolicy<Exec>::scratch_size_max(1)) - 256;
  }

  /// Whether Kokkos takes launches from the calling thread, and would use several threads if it has them.
  static bool may_launch() { return true; }
};

}  // namespace keramos::backend::host

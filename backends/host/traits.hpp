// What the host backends (serial, openmp, threads) share. A work-group runs on one thread: Kokkos'
// host teams are no larger than the thread pool, and phases become plain loops.
#pragma once

#include <cstddef>
#include <string>

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

  /// What algorithms choose tiles by.
  static constexpr std::size_t sure_local_bytes = 40 * 1024;
  /// Bytes of local memory that a group on a team of `team_size` can have: as much as Kokkos' large scratch.
  static std::size_t local_memory_limit(const Exec&, int /*team_size*/) {
    return std::size_t(Kokkos::TeamPolicy<Exec>::scratch_size_max(1)) - 256;
  }

  /// Whether Kokkos takes launches from the calling thread, and would use several threads if it has them.
  static bool may_launch() { return true; }

  // How queues launch: team.hpp.
  using launch_lock = host::launch_lock;
  static bool runs_in_caller(const Exec& exec) { return host::runs_in_caller(exec); }

  /// `kernel(team)` for each of `league` teams with `bytes` of local memory, on threads shared out by Policy.
  template <class Policy, class Kernel>
  static void for_each_team(const std::string& label, const Exec& exec, int league, std::size_t bytes,
                            const Kernel& kernel) {
    const bool alone = league == 1 && !Kokkos::Tools::profileLibraryLoaded();  // no thread has to be woken
    if (alone || runs_in_caller(exec)) {
      const local_block local(bytes);
      for (int rank = 0; rank < league; ++rank) kernel(team(rank, league, local.data()));
    } else {
      const launch_lock lock;
      // By address: it outlives the launch, and copies of what users capture cost time.
      Kokkos::parallel_for(label, Policy(exec, league, 1),
                           [bytes, kernel = &kernel](const typename Policy::member_type& member) {
                             const local_block local(bytes);
                             (*kernel)(team(member.league_rank(), member.league_size(), local.data()));
                           });
    }
  }
};

}  // namespace keramos::backend::host

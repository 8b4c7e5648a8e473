// Launches of the kernels that multiply.
#pragma once

#include <cstddef>
#include <string>

#include <keramos/backends/interface.hpp>
#include <keramos/core/detail/launch.hpp>

namespace keramos::detail {

/// team_launch, for kernels that no launch may wait for: Kokkos passes smaller ones than most_kernel_bytes as arguments.
template <int TeamSize, int TeamsPerUnit, sharing Sharing = sharing::equal, class Exec, class Kernel>
[[gnu::always_inline]] inline void launch_kernel(const std::string& label, const Exec& exec, int league,
                                                 std::size_t bytes, const Kernel& kernel) {
  if constexpr (!backend::traits<Exec>::is_host)
    static_assert(sizeof(Kernel) <= backend::traits<Exec>::most_kernel_bytes,
                  "keramos: with more Kokkos would pass the functor through constant memory and wait");
  team_launch<TeamSize, TeamsPerUnit, Sharing>(label, exec, league, bytes, kernel);
}

}  // namespace keramos::detail

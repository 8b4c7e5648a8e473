#include "bind.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "communicator.hpp"
#include "measure/core/cpus.hpp"
#include "measure/core/parallel.hpp"
#include "measure/device/machine.hpp"

namespace keramos::perf {

std::string bind_rank(communicator& ranks) {
  const auto affinities = ranks.affinities_on_node(initial_affinity());
  const int devices = visible_devices();
  if (devices > 1 && std::getenv("KOKKOS_DEVICE_ID") == nullptr) {
    setenv("KOKKOS_DEVICE_ID", std::to_string(ranks.local_rank() % devices).c_str(), 1);
  }
  if (ranks.local_size() == 1) return "the whole node, or what the launcher gave";
  if (are_bound(affinities)) return "as the launcher did";
  std::vector<cpu_place> all;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &initial_affinity())) all.push_back(place_of_cpu(cpu));
  }
  const auto share = share_of_cpus(all, ranks.local_rank(), ranks.local_size());
  set_initial_affinity(share);
  return fmt::format("share {} of {} of the node's cores", ranks.local_rank() + 1, ranks.local_size());
}

}  // namespace keramos::perf

#include <algorithm>

#include "ceilings.hpp"
#include "measure/core/host.hpp"
#include "measure/core/host_peak.hpp"

namespace keramos::perf {

device_spec measure_ceilings(const device_description& device) {
  device_spec spec;
  spec.name = device.name;
  spec.kind = "cpu";
  spec.units = device.threads;
  spec.clock_ghz = device.clock_hz * 1e-9;
  spec.bandwidth_gbs.push_back({"memory", 1e-9 * measure_host_copy(device.threads)});
  const auto caches = host_caches();
  for (std::size_t i = caches.size(); i-- > 0;) {
    // Half of what a thread has of the level, and more than the level before holds.
    const auto share = caches[i].bytes / std::size_t(std::min(caches[i].cores, device.threads)) / 2;
    if (i > 0 && share < 2 * caches[i - 1].bytes) continue;
    spec.bandwidth_gbs.push_back({caches[i].name, 1e-9 * measure_host_read(share, device.threads)});
  }
  for (const auto type : basic_types) {
    spec.peak_gflops.push_back({std::string(name(type)), 1e-9 * measure_host_peak(type, device.threads)});
  }
  spec.sources.push_back("measured by keramos-perf roofline on " + std::to_string(device.threads) +
                         " threads: memcpy, vector reads, multiply-adds in registers");
  return spec;
}

}  // namespace keramos::perf

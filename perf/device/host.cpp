// The host backends: serial, openmp, threads.
#include "core/host.hpp"

#include "core/host_peak.hpp"
#include "machine.hpp"

namespace keramos::perf {

std::size_t device_cache_bytes() { return cache_bytes(); }

device_peak peak_of(data_type type, const device_description& device) {
  return {measure_host_peak(type, device.threads), "measured"};
}

std::vector<std::pair<std::string, std::string>> device_notes() {
  std::vector<std::pair<std::string, std::string>> notes;
  const auto governor =
      first_line_of_command("cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null");
  if (!governor.empty()) notes.emplace_back("cpu_governor", governor);
  return notes;
}

}  // namespace keramos::perf

// The host backends: serial, openmp, threads.
#include "measure/core/host.hpp"

#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/types.hpp>

#include "counters.hpp"
#include "library_plan.hpp"
#include "machine.hpp"
#include "measure/core/host_peak.hpp"
#include "measure/core/visit_type.hpp"

namespace keramos::perf {

int visible_devices() { return 0; }
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

std::vector<std::pair<std::string, std::string>> device_identity() { return cpu_identity(); }

byte_counting device_byte_counting() { return byte_counting::cache_misses; }
void start_profiler() {}
void stop_profiler() {}

unit_limits device_unit_limits() { return {}; }

std::string host_micro_kernel(data_type type) {
  const auto of = [](const auto& table) {
    return std::string(table.isa) + ", " + std::to_string(table.mr) + " x " + std::to_string(table.nr);
  };
  return visit_type(type, [&](auto elements) {
    using with = decltype(elements);
    using types = keramos::detail::types_of<typename with::a, typename with::b, typename with::c>;
    return of(keramos::detail::host::kernels<types>());
  });
}

}  // namespace keramos::perf

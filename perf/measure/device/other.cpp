// Devices that the harness knows nothing about yet.
#include "counters.hpp"
#include "library_plan.hpp"
#include "machine.hpp"
#include "measure/core/host.hpp"

namespace keramos::perf {

int visible_devices() { return 0; }
std::size_t device_cache_bytes() { return std::size_t(64) << 20; }
device_peak peak_of(data_type, const device_description&) { return {}; }
std::vector<std::pair<std::string, std::string>> device_notes() { return {}; }
std::vector<std::pair<std::string, std::string>> device_identity() { return {}; }

byte_counting device_byte_counting() { return byte_counting::nobody; }
void start_profiler() {}
void stop_profiler() {}

unit_limits device_unit_limits() { return {}; }
std::string host_micro_kernel(data_type) { return {}; }

}  // namespace keramos::perf

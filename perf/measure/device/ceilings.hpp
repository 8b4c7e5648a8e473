// What the device at hand can do at most, measured: device/host_ceilings.cpp and device/gpu_ceilings.cpp.
#pragma once

#include "machine.hpp"
#include "measure/core/device_spec.hpp"

namespace keramos::perf {

// Copy bandwidth of memory, read bandwidth of caches, multiply-adds of each type, those of matrix units
// where there are any. Takes seconds; a machine must be up.
device_spec measure_ceilings(const device_description& device);

}  // namespace keramos::perf

// How many teams one unit of a device (multiprocessor, compute unit, Xe-core) holds at once, and why not
// more. The rules of allocation are those of NVIDIA's occupancy calculator; with the default
// granularities of 1 they are plain division.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/device_spec.hpp"

namespace keramos::perf {

struct team_needs {
  std::int64_t threads = 1;
  std::int64_t registers = 0;      // of a thread; 0: not known, so they do not limit
  std::int64_t scratch_bytes = 0;  // of the team; 0: none
};

struct resource_limit {
  std::string resource;  // "threads", "teams", "registers" or "scratch"
  std::int64_t available = 0;
  std::int64_t of_a_team = 0;  // as allocated: rounded up
  std::int64_t teams = 0;      // that this resource alone would allow
};

struct occupancy_result {
  std::vector<resource_limit> limits;  // those that are known
  std::int64_t teams = 0;              // active at once; 0 if a team alone does not fit
  std::string limited_by;              // "threads", or "threads and scratch"; "" if nothing is known
  std::string impossible;              // why a team cannot run at all; "" if it can
  double occupancy = 0;                // active threads over the unit's threads; 0 if not known
};

occupancy_result occupancy_of(const team_needs& team, const unit_limits& unit);

}  // namespace keramos::perf

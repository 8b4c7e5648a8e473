// The steps for warpgroups of compute capability 9.0, as the harness sees them.
#pragma once

#include <vector>

#include "ladder/step.hpp"

namespace keramos::perf::ladder::hopper {

std::vector<ladder_step> all_steps();  // of bf16, of any tile width

}  // namespace keramos::perf::ladder::hopper

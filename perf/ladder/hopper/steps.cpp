// Compiled for sm_90a alone (backends/cuda/warpgroups.cmake).
#include "steps.hpp"

#include "3_wgmma.hpp"
#include "4_tma.hpp"
#include "5_multistage.hpp"
#include "6_warp_specialized.hpp"
#include "7_persistent.hpp"
#include "8_wide_stores.hpp"
#include "ladder/step_of.hpp"

namespace keramos::perf::ladder::hopper {

std::vector<ladder_step> all_steps() {
  return steps_of<element, 0, wgmma, tma, multistage, warp_specialized, persistent, wide_stores>();
}

}  // namespace keramos::perf::ladder::hopper

#include "steps.hpp"

#if defined(KERAMOS_PERF_HAS_HOPPER_STEPS)
#include "hopper/steps.hpp"
#endif

// The tensor cores of earlier GPUs have no step of their own for bf16: from the tile the road leads to Hopper's.
template <>
std::vector<keramos::perf::ladder_step> keramos::perf::ladder::steps_for<keramos::bfloat16>(int width) {
  auto steps = with_width(width, [](auto w) { return steps_of<bfloat16, w(), naive, tiled>(); });
#if defined(KERAMOS_PERF_HAS_HOPPER_STEPS)
  for (auto& s : hopper::all_steps()) steps.push_back(std::move(s));
#endif
  return steps;
}

#include "steps.hpp"

template <>
std::vector<keramos::perf::ladder_step> keramos::perf::ladder::steps_for<std::uint32_t>(int width) {
  return instantiated_steps<std::uint32_t>(width);
}

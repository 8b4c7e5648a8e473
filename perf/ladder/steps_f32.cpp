#include "steps.hpp"

template <>
std::vector<keramos::perf::ladder_step> keramos::perf::ladder::steps_for<float>(int width) {
  return instantiated_steps<float>(width);
}

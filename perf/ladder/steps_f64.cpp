#include "steps.hpp"

template <>
std::vector<keramos::perf::ladder_step> keramos::perf::ladder::steps_for<double>(int width) {
  return instantiated_steps<double>(width);
}

// What keramos-perf info prints, seen without Kokkos.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace keramos::perf {

struct info_section {
  std::string title;
  std::vector<std::pair<std::string, std::string>> rows;
};

// The build, then each device of its backends. A machine must live.
std::vector<info_section> describe_build_and_devices();

}  // namespace keramos::perf

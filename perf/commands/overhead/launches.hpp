// The launches that are compared, without Kokkos.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace keramos::perf {

struct launch_pair {
  std::string name;  // "parallel_for", "work_group"
  // Wall seconds of `calls` launches one after another and the wait at their end.
  std::function<double(std::int64_t calls)> keramos, kokkos;
};
// Kernels of one item, so that what they do does not count.
std::vector<launch_pair> launch_pairs();

}  // namespace keramos::perf

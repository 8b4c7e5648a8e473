// What the compiled kernels really need, asked of the device and of the library: for keramos-perf explain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/device_spec.hpp"
#include "core/problem.hpp"

namespace keramos::perf {

// One kernel launch as the device's runtime sees it.
struct launch_figures {
  std::string name;                // of the kernel, where the runtime tells
  std::int64_t teams = 0;          // launched
  std::int64_t threads = 0;        // of a team
  std::int64_t registers = 0;      // of a thread
  std::int64_t scratch_bytes = 0;  // of a team, Kokkos' own share included
  std::int64_t spill_bytes = 0;    // of a thread: registers and arrays that went to memory
  std::int64_t active_teams = 0;   // on a unit at once, by the runtime's own account
};

// A part of C by the library's plan (keramos/gemm/plan.hpp).
struct planned_part {
  std::string text;                // as the plan prints itself
  std::string path;                // "tiled", or what else was chosen
  std::int64_t m = 0, n = 0;       // of C
  std::string tile;                // block tile m x n x k
  std::int64_t parts_of_k = 1;     // that are summed apart
  std::int64_t scratch_bytes = 0;  // that a team asks for, at most
  std::int64_t threads = 0;        // of a team
};

struct library_kernel {
  std::vector<planned_part> plan;
  std::string micro_kernel;              // hosts: instruction set and register tile
  std::vector<launch_figures> launches;  // GPUs, where the runtime can be asked
};

// How keramos::gemm does this problem on the default queue; where the runtime is asked for launches, it is run once.
library_kernel library_kernel_for(const gemm_case& g);

// What differs from device to device: device/<backend>.cpp.
unit_limits device_unit_limits();               // all absent on hosts
std::string host_micro_kernel(data_type type);  // "" on GPUs

}  // namespace keramos::perf

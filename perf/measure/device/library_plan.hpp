// How keramos::gemm does a product, by its plan: for keramos-perf explain and the ladder. Nothing is run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/device_spec.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {

struct block_extents {
  std::int64_t m = 0, n = 0, k = 0;
  std::string text() const { return std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k); }
};

// The time of a part by the library's model of GPUs (keramos/gemm/plan/simt_model.hpp), and the share of it that would be
// saved if one thing took no time.
struct modelled_time {
  double cycles = 0;
  struct saving {
    std::string without;  // "products", "copies", "waiting" or "adding parts of k"
    double share = 0;
  };
  std::vector<saving> savings;  // the largest first: it limits
};

// A part of C by the library's plan (keramos/gemm/plan.hpp).
struct planned_part {
  std::string text;              // as the plan prints itself
  std::string path;              // "tiled", or what else was chosen
  std::int64_t m = 0, n = 0;     // of C
  block_extents block;           // of C that a team takes, and its k-tile
  std::int64_t stages = 1;       // k-tiles in flight
  std::int64_t parts_of_k = 1;   // that are summed apart
  std::int64_t whole_tiles = 0;  // the first, whose k is not divided
  std::int64_t corner_m = 0;     // last rows and columns that are left to another part
  std::int64_t corner_n = 0;
  std::int64_t teams = 0;          // of the kernel that multiplies
  std::int64_t threads = 0;        // of a team
  std::int64_t scratch_bytes = 0;  // that a team asks for, at most
  // Of GPUs:
  std::string unit;                     // what multiplies: "FMA units", "matrix units" or "warpgroups"
  std::int64_t teams_of_registers = 0;  // that registers are left for on a multiprocessor; 0: not known
  std::optional<modelled_time> model;   // where the library has one

  bool is_tiled() const { return path == "tiled"; }
};

struct library_plan {
  std::string type;  // in which it computes: "f32" where f32_emulated would gain nothing
  std::vector<planned_part> parts;
  std::string micro_kernel;  // hosts: instruction set and register tile
};

// How keramos::gemm would do this problem on the default queue.
library_plan library_plan_for(const gemm_case& g);

// What differs from device to device: device/<backend>.cpp.
unit_limits device_unit_limits();               // all absent on hosts
std::string host_micro_kernel(data_type type);  // "" on GPUs

}  // namespace keramos::perf

// A device on paper or as measured: its ceilings, and what limits how many teams a unit holds.
// perf/data/specs/ has files of well-known ones; specs/README.md names the fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace keramos::perf {

// What one unit (multiprocessor, compute unit, Xe-core) has for all teams on it. What is absent does
// not limit.
struct unit_limits {
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> teams;
  std::optional<std::int64_t> threads_of_a_team;
  std::optional<std::int64_t> registers;  // of 32 bits
  std::optional<std::int64_t> registers_of_a_thread;
  std::optional<std::int64_t> scratch_bytes;
  std::int64_t warp = 1;                        // threads are allocated in whole warps
  std::int64_t register_granularity = 1;        // registers are, in this many a warp
  std::int64_t register_banks = 1;              // a warp's registers lie in one of so many files
  std::int64_t scratch_granularity = 1;         // bytes
  std::int64_t scratch_reserved_of_a_team = 0;  // bytes that the system takes of each team's share
};

struct named_rate {
  std::string name;  // of a memory, or of a type
  double value = 0;
};

struct device_spec {
  std::string name;
  std::string kind;  // "gpu" or "cpu"
  int units = 0;
  double clock_ghz = 0;
  std::vector<named_rate> bandwidth_gbs;       // "memory" first, then caches: decimal GB/s
  std::vector<named_rate> peak_gflops;         // "f32", "f64", "i32": multiply-add is two operations
  std::vector<named_rate> matrix_peak_gflops;  // of matrix units (tensor cores): "f64", "tf32", "f16", "bf16"
  unit_limits unit;
  std::vector<std::string> sources;
};

// The rate of that name; 0 if the list has none.
double rate_of(const std::vector<named_rate>& rates, const std::string& name);

// These throw usage_error with the file's name in it.
device_spec parse_device_spec(const nlohmann::ordered_json& document, const std::string& file_name);
// A path, or the name of a file in the folder of specs without its ".json".
device_spec read_device_spec(const std::string& name_or_path, const std::string& folder);
nlohmann::ordered_json to_json(const device_spec& spec);

}  // namespace keramos::perf

// What must be known to read the numbers: machine, build, libraries.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "commands/gemm/bench.hpp"

namespace keramos::perf {

struct run_description {
  std::string tool;  // "keramos-perf gemm"
  std::string command_line;
  std::uint64_t seed = 0;
  std::vector<data_type> types;  // a peak is found for each
};

nlohmann::ordered_json machine_context(const device_description& device, const run_description& run);
// The same with providers and peaks.
nlohmann::ordered_json make_context(gemm_bench& bench, const run_description& run);

// One or two lines of it for the head of the table.
std::string headline(const nlohmann::ordered_json& context);

}  // namespace keramos::perf

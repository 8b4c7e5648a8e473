// Times and verifies all providers on one problem.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "report/result.hpp"

namespace keramos::perf {

struct run_settings {
  int repetitions = 7;
  double time_limit_s = 10;  // for all repetitions of one provider, but never less than 3 of them
  std::int64_t sets = 0;     // copies of the operands; 0: enough to exceed the cache
  std::uint64_t seed = 0;
  std::function<void(const std::string&)> progress;  // a few words about what is going on
};

// One result for each provider, and for those asked for by name that cannot do the problem. Where the case as a whole
// fails, for want of memory say, all of them are failed.
std::vector<gemm_result> run_case(const gemm_case& g, gemm_bench& bench, const run_settings& settings);

}  // namespace keramos::perf

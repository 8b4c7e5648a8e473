// The options of keramos-perf ladder, as written and as understood.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/problem.hpp"
#include "measure/providers/provider.hpp"

namespace CLI {
class App;
}

namespace keramos::perf {

struct ladder_options {
  std::string types = "f32,f64";
  std::string tiles = "16";
  std::string sizes, m, n, k;
  std::string yardsticks;  // "": the library and the device's vendor
  int repetitions = 5;
  double time_limit_s = 10;
  std::int64_t sets = 0;
  std::uint64_t seed = 0;
  bool in_process = false;
  bool counters = false;
  bool count_once = false;  // this is the run that is counted: see counters.hpp
  std::string output, plot;

  void add_to(CLI::App& app);

  // All of these throw usage_error.
  void check() const;
  std::vector<data_type> parsed_types() const;
  std::vector<int> widths() const;
  std::vector<gemm_case> cases(bool device_is_host) const;  // op NN
  // All rows: the steps of each width, then the yardsticks.
  std::vector<provider_choice> choices(bool device_is_host) const;

 private:
  std::vector<provider_choice> yardstick_choices(bool device_is_host) const;
};

}  // namespace keramos::perf

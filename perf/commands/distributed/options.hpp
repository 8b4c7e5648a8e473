// The options of keramos-perf distributed, as written and as understood.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "job.hpp"
#include "measure/core/problem.hpp"
#include "simulate.hpp"

namespace CLI {
class App;
}

namespace keramos::perf {

struct distributed_options {
  std::string types = "f32,f64", ops = "NN";
  std::string sizes, m, n, k;
  std::string scaling = "strong";
  std::string ranks, grids;
  int block = 64;
  double memory = 0;  // bytes a rank; 0: no limit
  std::string providers = "keramos,scalapack";
  std::string scalapack;  // a path
  int repetitions = 7;
  double time_limit_s = 10;
  double alpha = 1, beta = 0;
  std::uint64_t seed = 0;
  std::string simulated;  // "": products are made
  double latency_us = 2, bandwidth = 25, rate = 1000;
  std::string format, output;
  std::string timeline, plot;  // files

  void add_to(CLI::App& app);
  // All of these throw usage_error.
  void check() const;
  std::vector<std::string> provider_names() const;
  machine_model model() const { return {latency_us * 1e-6, bandwidth * 1e9, rate * 1e9}; }
  // For so many ranks at most, in the order in which they are measured: by type, op and shape, then by ranks.
  std::vector<distributed_case> cases(int most_ranks) const;

 private:
  // Rows and columns of grids: those that are given; or as square as ranks allow.
  std::vector<std::pair<int, int>> chosen_grids(int most_ranks) const;
};

}  // namespace keramos::perf

// The measuring part of keramos-perf gemm and batched: a bench and the cases to run on it.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench.hpp"
#include "options.hpp"
#include "report/result.hpp"

namespace keramos::perf {

class gemm_session {
 public:
  gemm_session(const gemm_command_options& options, int& argc, char** argv);

  const std::vector<gemm_case>& cases() const { return cases_; }
  std::vector<std::string> providers() const;    // that results have rows of
  std::vector<std::string> unavailable() const;  // one line for each provider that is not there
  bool has_all() const;                          // that were asked for
  const nlohmann::ordered_json& context() const { return context_; }
  bool batched() const { return options_.batched; }
  bool knows_peak() const { return context_.contains("peak_gflops"); }
  // What each case costs, in seconds on a rough guess: for the time left.
  std::vector<double> costs() const;

  struct case_outcome {
    std::vector<gemm_result> rows;
    bool good = true;  // no row is wrong or failed, and every provider that was asked for is there
  };
  // `progress` gets a few words about what is going on.
  case_outcome measure(std::size_t i, std::uint64_t seed,
                       const std::function<void(const std::string&)>& progress);
  // Called some times a second while a provider's process is waited for.
  void set_waiting(std::function<void()> waiting) { bench_->waiting = std::move(waiting); }
  std::string title(std::size_t i) const;  // "[3/20] f32 NN right 64x64x64"

 private:
  double peak_of(data_type type) const;  // in GFLOP/s; infinite where it is not known

  const gemm_command_options& options_;
  std::unique_ptr<gemm_bench> bench_;
  std::vector<gemm_case> cases_;
  nlohmann::ordered_json context_;
};

}  // namespace keramos::perf

// --resume: what an earlier run of the same command has left in the output file, of a job that was requeued say.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "measure/core/problem.hpp"
#include "options.hpp"
#include "report/output.hpp"

namespace keramos::perf {

class earlier_run {
 public:
  earlier_run() = default;  // there was none
  // Reads the file, if there is one. `context` and `ranks` are this run's: throws usage_error if the file is of another
  // command, machine, build or number of ranks, or none of ours.
  earlier_run(const std::string& path, const nlohmann::ordered_json& context, int ranks);

  // Whether the case was measured, by every rank.
  bool has(const gemm_case& g) const { return cases_.contains(key(g)); }
  const nlohmann::ordered_json& rows() const { return rows_; }  // of those cases
  bool good() const { return good_; }                           // none is wrong or failed
  std::uint64_t seed() const { return seed_; }                  // 0: there was none
  // One entry for each run before this one: "date", "host" and how many rows it left.
  const nlohmann::ordered_json& history() const { return history_; }
  std::string text() const;  // a line of it; "" if there was none

 private:
  static std::string key(const gemm_case& g);

  std::set<std::string> cases_;
  nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
  nlohmann::ordered_json history_ = nlohmann::ordered_json::array();
  std::uint64_t seed_ = 0;
  bool good_ = true;
};

// If the options ask for it, what is in their output file; `output`, whose context is made, gets its rows.
earlier_run resume(const gemm_command_options& options, run_output& output, int ranks);

}  // namespace keramos::perf

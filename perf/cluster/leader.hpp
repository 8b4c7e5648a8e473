// Rank 0 of a job.
#pragma once

#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/gemm/resume.hpp"
#include "commands/gemm/session.hpp"
#include "communicator.hpp"
#include "report/output.hpp"
#include "report/progress.hpp"

namespace keramos::perf {

struct job_tag {
  enum : int { hello = 1, measure = 2, rows = 3, bye = 4, end = 5, alive = 6 };
};

// When a word is due to those who would take a long silence for a death.
class pulse {
 public:
  explicit pulse(double timeout_s) : every_(timeout_s / 20) {}
  bool is_due() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < every_) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::duration<double> every_;
  std::chrono::steady_clock::time_point last_;  // long ago
};

nlohmann::ordered_json describe_rank(const communicator& ranks, const nlohmann::ordered_json& context,
                                     const std::string& bound);
nlohmann::ordered_json rows_message(const gemm_session::case_outcome& outcome, std::size_t i);

class job_leader {
 public:
  job_leader(communicator& ranks, const gemm_command_options& options, std::uint64_t seed, int& argc,
             char** argv);
  int run();

 private:
  using seconds = std::chrono::duration<double>;

  enum class state { starting, idle, measuring, finished, failed, interrupted };
  struct member {
    state now = state::starting;
    std::size_t wanted = 0;  // the case it was told to measure
    std::chrono::steady_clock::time_point heard;
    nlohmann::ordered_json description;
  };

  void measure_all();
  void measure_here(std::size_t i);
  void order(int rank, std::size_t i);
  // Tells the others now and then that this rank is alive.
  void beat();
  // Takes messages until nobody is in `awaited` any more. Who is silent for longer than the limit is failed.
  void wait_while(state awaited, seconds limit);
  void take(const rank_message& message);
  void take_rows(int rank, const nlohmann::ordered_json& message);
  void fail(int rank, const std::string& reason);
  void hear_last_words();
  void save();
  void warn();
  void summarize(bool last);
  std::string failures() const;
  std::vector<std::string> hosts() const;
  int end(const std::string& incomplete_because);

  communicator& ranks_;
  const gemm_command_options& options_;
  std::uint64_t seed_;
  pulse pulse_;
  progress_line progress_;
  std::vector<member> members_;
  run_output output_;
  earlier_run earlier_;
  std::unique_ptr<gemm_session> session_;
  std::size_t cases_told_ = 0;
  bool good_ = true;
};

}  // namespace keramos::perf

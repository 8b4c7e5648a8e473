#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine.hpp"
#include "measure/core/check.hpp"
#include "measure/core/host.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/device/machine.hpp"

namespace keramos::perf {
namespace {

constexpr double least_repetition_s = 0.02;
// Calls as long as this are too dear to be thrown away: the first one and the one that is verified count as
// repetitions. Whether caches are cold makes no difference to them.
constexpr double dear_call_s = 10;

std::int64_t choose_sets(const gemm_case& g, std::int64_t asked) {
  if (asked > 0) return asked;
  const double wanted = 1.5 * double(device_cache_bytes());
  return static_cast<std::int64_t>(std::clamp(std::ceil(wanted / g.bytes()), 1.0, 65536.0));
}

// Runs until the time of one call is known, which also warms up. Returns that time.
double calibrate(gemm_target& target) {
  double seconds = target.run(1);
  if (seconds > 1) return seconds;  // cold or not makes no difference to that
  for (std::int64_t calls = 1;; calls *= 4) {
    throw_if_interrupted();  // which may have ended the call before, in one process
    seconds = target.run(calls);
    if (seconds >= least_repetition_s / 4 || calls > 10'000'000) return seconds / double(calls);
  }
}

// A row of which only the problem is known.
gemm_result empty_result(const gemm_case& g, gemm_bench& bench, const target_slot& slot) {
  gemm_result r;
  r.provider = slot.name;
  r.backend = bench.device().backend;
  r.device = bench.device().name;
  r.problem = g;
  if (slot.target && slot.target->info().on_host && !bench.device().is_host) {
    r.backend = "host";
    r.device = cpu_name();
  }
  return r;
}

class case_runner {
 public:
  case_runner(const gemm_case& g, gemm_bench& bench, const run_settings& settings)
      : case_(g), bench_(bench), settings_(settings), sets_(choose_sets(g, settings.sets)) {
    bench_.begin(g, sets_, settings.seed);
  }
  ~case_runner() {
    for (auto& t : running_) release(*t.target);
    bench_.end();
  }
  case_runner(const case_runner&) = delete;
  case_runner& operator=(const case_runner&) = delete;

  std::vector<gemm_result> run() {
    results_.reserve(bench_.slots().size());  // subjects keep references
    for (auto& slot : bench_.slots()) start(slot);
    time_interleaved(subjects_);
    for (std::size_t i = 0; i < subjects_.size(); ++i) {
      finish(subjects_[i], running_[i]);
    }
    return std::move(results_);
  }

 private:
  struct running {
    gemm_target* target;
    gemm_result* result;
    double dear_call_s;                          // of the first call if that counts; 0: it does not
    std::shared_ptr<std::vector<double>> cpu_s;  // of one call, for each repetition
  };

  void say(const std::string& provider, const char* what) const {
    settings_.progress(fmt::format("{}: {}", provider, what));
  }

  // Never throws, for the destructor: what is dead, or ended by an interruption, has nothing to release.
  static void release(gemm_target& target) noexcept {
    try {
      target.release();
    } catch (const std::exception&) {
    } catch (const interruption&) {
    }
  }

  gemm_result& add_result(const target_slot& slot) {
    return results_.emplace_back(empty_result(case_, bench_, slot));
  }

  void start(target_slot& slot) {
    throw_if_interrupted();
    std::string why = slot.problem;
    try {
      if (slot.target) why = slot.target->cannot(case_);
    } catch (const std::exception& error) {
      auto& r = add_result(slot);
      r.status = outcome::failed;
      r.reason = error.what();
      return;
    }
    if (!why.empty()) {
      if (!slot.asked_for) return;
      auto& r = add_result(slot);
      r.reason = why;
      return;
    }
    auto& r = add_result(slot);
    auto& target = *slot.target;
    double call_s = 0;
    say(slot.name, "warming up");
    try {
      target.prepare(case_, sets_, settings_.seed);
      target.take_turn();
      call_s = calibrate(target);
      target.pin();
    } catch (const std::exception& error) {
      r.status = outcome::failed;
      r.reason = error.what();
      release(target);
      return;
    }
    timed_subject subject;
    subject.name = slot.name;
    subject.calls = std::max<std::int64_t>(1, std::llround(std::ceil(least_repetition_s / call_s)));
    const double repetition_s = call_s * double(subject.calls);
    subject.repetitions = repetitions_within(settings_.time_limit_s, repetition_s, settings_.repetitions);
    const bool dear = call_s >= dear_call_s;
    if (dear) subject.repetitions = std::max(0, subject.repetitions - 2);
    const auto cpu_s = std::make_shared<std::vector<double>>();
    subject.run = [&target, cpu_s](std::int64_t calls) {
      const double seconds = target.run(calls);
      cpu_s->push_back(target.cpu_seconds() / double(calls));
      return seconds;
    };
    subject.before = [this, &target, name = slot.name, call_s, calls = subject.calls,
                      of = subject.repetitions](int repetition) {
      say(name, fmt::format("{}/{}", repetition + 1, of).c_str());
      target.take_turn();
      // Caches, clocks and threads were another provider's until now.
      if (call_s < 0.1) target.run(std::max<std::int64_t>(1, calls / 20));
    };
    subjects_.push_back(std::move(subject));
    running_.push_back({&target, &r, dear ? call_s : 0, cpu_s});
  }

  void finish(timed_subject& subject, const running& what) {
    auto& r = *what.result;
    r.status = outcome::failed;
    r.reason = subject.failure;
    if (!subject.failure.empty()) return;
    say(subject.name, "verifying");
    throw_if_interrupted();
    try {
      verify(subject, what);
      r.seconds = summarize(subject.seconds);
      r.samples = std::move(subject.seconds);
      r.cpu_samples = std::move(*what.cpu_s);
    } catch (const std::exception& error) {
      r.reason = error.what();
    }
  }

  // Checks what the same calls as in a timed repetition leave in C. With beta they would pile up,
  // so then it is one call.
  void verify(timed_subject& subject, const running& what) {
    const auto [c, seconds] = what.target->product(case_.beta == 0 ? subject.calls : 1);
    if (what.dear_call_s > 0) {
      subject.seconds.insert(subject.seconds.end(), {what.dear_call_s, seconds});
    }
    if (!check_) {
      const auto first = bench_.first_set();
      check_ = make_gemm_check(case_, first.a, first.b, bench_.initial_c(), settings_.seed,
                               default_device_is_host());
    }
    auto& r = *what.result;
    r.check = (*check_)(c);
    r.status = r.check.passed ? outcome::verified : outcome::mismatch;
  }

  gemm_case case_;
  gemm_bench& bench_;
  const run_settings& settings_;
  std::int64_t sets_;
  std::unique_ptr<gemm_check> check_;
  std::vector<gemm_result> results_;
  std::vector<timed_subject> subjects_;
  std::vector<running> running_;  // parallel to subjects_
};

}  // namespace

std::vector<gemm_result> run_case(const gemm_case& g, gemm_bench& bench, const run_settings& settings) {
  try {
    return case_runner(g, bench, settings).run();
  } catch (const std::exception& error) {  // out of memory, say: the next case may fit
    std::vector<gemm_result> failed;
    for (const auto& slot : bench.slots()) {
      if (!slot.target && !slot.asked_for) continue;
      auto& r = failed.emplace_back(empty_result(g, bench, slot));
      r.status = outcome::failed;
      r.reason = error.what();
    }
    return failed;
  }
}

}  // namespace keramos::perf

#include "runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/check.hpp"
#include "core/host.hpp"
#include "engine.hpp"

namespace keramos::perf {
namespace {

constexpr double least_repetition_s = 0.02;
constexpr int least_repetitions = 3;

std::int64_t choose_sets(const gemm_case& g, std::int64_t asked) {
  if (asked > 0) return asked;
  const double bytes = double(size_of(g.type)) *
                       (double(g.m) * double(g.k) + double(g.k) * double(g.n) + double(g.m) * double(g.n));
  const double wanted = 1.5 * double(device_cache_bytes());
  return static_cast<std::int64_t>(std::clamp(std::ceil(wanted / bytes), 1.0, 65536.0));
}

// Other providers' threads may still spin on the cores after their last call: OpenBLAS' do so for
// 2^26 clock cycles, 20 to 30 ms.
void let_threads_rest(const provider_info& info) {
  if (info.threads != 1) std::this_thread::sleep_for(std::chrono::milliseconds(40));
}

// Runs until the time of one call is known, which also warms up. Returns that time.
double calibrate(gemm_provider& provider) {
  double seconds = provider.run(1);
  if (seconds > 1) return seconds;  // cold or not makes no difference to that
  for (std::int64_t calls = 1;; calls *= 4) {
    seconds = provider.run(calls);
    if (seconds >= least_repetition_s / 4 || calls > 10'000'000) return seconds / double(calls);
  }
}

class case_runner {
 public:
  case_runner(const gemm_case& g, const device_description& device, const run_settings& settings)
      : case_(g),
        device_(device),
        settings_(settings),
        workspace_(g, choose_sets(g, settings.sets), settings.seed) {}

  std::vector<gemm_result> run(std::vector<provider_slot>& slots) {
    results_.reserve(slots.size());  // subjects keep references
    for (auto& slot : slots) start(slot);
    time_interleaved(subjects_);
    for (std::size_t i = 0; i < subjects_.size(); ++i)
      finish(subjects_[i], *running_[i].result, *running_[i].provider);
    return std::move(results_);
  }

 private:
  struct running {
    gemm_provider* provider;
    gemm_result* result;
  };

  void say(const std::string& provider, const char* what) const {
    settings_.progress(fmt::format("{}: {}", provider, what));
  }

  gemm_result& add_result(const provider_slot& slot) {
    auto& r = results_.emplace_back();
    r.provider = slot.name;
    r.backend = device_.backend;
    r.device = device_.name;
    r.problem = case_;
    if (slot.provider && slot.provider->info().on_host && !device_.is_host) {
      r.backend = "host";
      r.device = cpu_name();
    }
    return r;
  }

  void start(provider_slot& slot) {
    const auto why = slot.provider ? slot.provider->cannot(case_) : slot.problem;
    if (!why.empty()) {
      if (!slot.asked_for) return;
      auto& r = add_result(slot);
      r.reason = why;
      return;
    }
    auto& r = add_result(slot);
    auto& provider = *slot.provider;
    double call_s = 0;
    say(slot.name, "warming up");
    try {
      provider.prepare(case_, workspace_.operands());
      let_threads_rest(provider.info());
      call_s = calibrate(provider);
    } catch (const std::exception& error) {
      r.status = outcome::failed;
      r.reason = error.what();
      return;
    }
    timed_subject subject;
    subject.name = slot.name;
    subject.calls = std::max<std::int64_t>(1, std::llround(std::ceil(least_repetition_s / call_s)));
    const double repetition_s = call_s * double(subject.calls);
    subject.repetitions =
        std::min(settings_.repetitions,
                 std::max(least_repetitions, static_cast<int>(settings_.time_limit_s / repetition_s)));
    subject.run = [&provider](std::int64_t calls) { return provider.run(calls); };
    subject.before = [this, &provider, name = slot.name, call_s, of = subject.repetitions](int repetition) {
      say(name, fmt::format("{}/{}", repetition + 1, of).c_str());
      let_threads_rest(provider.info());
      if (call_s < 0.1) provider.run(1);  // caches, clocks and threads are another provider's now
    };
    subjects_.push_back(std::move(subject));
    running_.push_back({&provider, &r});
  }

  void finish(const timed_subject& subject, gemm_result& r, gemm_provider& provider) {
    r.status = outcome::failed;
    r.reason = subject.failure;
    if (!subject.failure.empty()) return;
    say(subject.name, "verifying");
    try {
      verify(subject, r, provider);
      r.seconds = summarize(subject.seconds);
    } catch (const std::exception& error) {
      r.reason = error.what();
    }
  }

  // Checks what the same calls as in a timed repetition leave in C. With beta they would pile up,
  // so then it is one call.
  void verify(const timed_subject& subject, gemm_result& r, gemm_provider& provider) {
    const bool on_host = provider.info().on_host;
    workspace_.reset_c(on_host);
    provider.run(case_.beta == 0 ? subject.calls : 1);
    if (!check_) {
      const auto& first = workspace_.operands().host.front();
      check_ = make_gemm_check(case_, first.a, first.b, workspace_.initial_c(), settings_.seed);
    }
    r.check = (*check_)(workspace_.fetch_c(on_host));
    r.status = r.check.passed ? outcome::verified : outcome::mismatch;
  }

  gemm_case case_;
  const device_description& device_;
  const run_settings& settings_;
  workspace workspace_;
  std::unique_ptr<gemm_check> check_;
  std::vector<gemm_result> results_;
  std::vector<timed_subject> subjects_;
  std::vector<running> running_;  // parallel to subjects_
};

}  // namespace

std::vector<gemm_result> run_case(const gemm_case& g, const device_description& device,
                                  std::vector<provider_slot>& slots, const run_settings& settings) {
  return case_runner(g, device, settings).run(slots);
}

}  // namespace keramos::perf

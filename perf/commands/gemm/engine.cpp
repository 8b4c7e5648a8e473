#include "engine.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>

#include "measure/core/interrupt.hpp"

namespace keramos::perf {
namespace {

// Keeps what Google Benchmark measured; printing is the harness' own affair.
class collector : public benchmark::BenchmarkReporter {
 public:
  explicit collector(std::vector<timed_subject>& subjects) : subjects_(subjects) {}

  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const auto& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations == 0) continue;
      for (auto& subject : subjects_) {
        if (subject.name != run.run_name.function_name || !subject.failure.empty()) continue;
        subject.seconds.push_back(run.real_accumulated_time / double(run.iterations));
      }
    }
  }

 private:
  std::vector<timed_subject>& subjects_;
};

// One repetition: all calls are one batch, so that only the batch's ends are looked at.
void run_subject(benchmark::State& state, timed_subject& subject, int repetition) {
  try {
    subject.before(repetition);
    while (state.KeepRunningBatch(subject.calls)) {
      state.SetIterationTime(subject.run(subject.calls));
    }
  } catch (const interruption&) {  // must not fly through Google Benchmark: see below
    state.SkipWithError("interrupted");
  } catch (const std::exception& error) {
    subject.failure = error.what();
    state.SkipWithError(error.what());
  }
}

}  // namespace

void time_interleaved(std::vector<timed_subject>& subjects) {
  int repetitions = 0;
  for (const auto& s : subjects) repetitions = std::max(repetitions, s.repetitions);
  collector reporter(subjects);
  // Google Benchmark repeats A A A B B B, or in random order across all that is registered. Running
  // the registered set once for each repetition interleaves exactly.
  for (int r = 0; r < repetitions; ++r) {
    benchmark::ClearRegisteredBenchmarks();
    throw_if_interrupted();
    bool any = false;
    for (auto& subject : subjects) {
      if (r >= subject.repetitions || !subject.failure.empty()) continue;
      benchmark::RegisterBenchmark(subject.name.c_str(),
                                   [&subject, r](benchmark::State& state) { run_subject(state, subject, r); })
          ->UseManualTime()
          ->Iterations(subject.calls)
          ->Repetitions(1);
      any = true;
    }
    if (any) benchmark::RunSpecifiedBenchmarks(&reporter, ".");  // whatever BENCHMARK_FILTER says
  }
  benchmark::ClearRegisteredBenchmarks();
  throw_if_interrupted();
  for (auto& s : subjects) {
    if (s.seconds.empty() && s.repetitions > 0 && s.failure.empty())
      s.failure = "it was not timed: leave the variables BENCHMARK_... of Google Benchmark unset";
  }
}

}  // namespace keramos::perf

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/gemm/engine.hpp"
#include "launches.hpp"
#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "measure/core/statistics.hpp"
#include "measure/device/machine.hpp"
#include "report/context.hpp"
#include "report/output.hpp"

namespace keramos::perf {
namespace {

struct overhead_options {
  int repetitions = 201;
  std::int64_t calls = 500;
  std::string output;
};

int run_overhead(const overhead_options& options, int& argc, char** argv) {
  if (options.repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 201");
  if (options.calls < 1) throw usage_error("--calls must be at least 1: write --calls 500");
  check_output_file(options.output);
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i ? " " : "") + std::string(argv[i]);
  machine m(argc, argv);
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf-overhead/1";
  document["context"] = machine_context(m.device(), {"keramos-perf overhead", line, 0, {}});
  fmt::print("{} on {}, Kokkos {}: medians of {} repetitions of {} launches, wait at the end included\n\n",
             m.device().backend, m.device().name, m.device().kokkos_version, options.repetitions,
             options.calls);
  fmt::print("{:25} {:>12} {:>12} {:>12} {:>8} {:>10}\n", "launch", "Keramos ns", "Kokkos ns", "overhead ns",
             "%", "spread ns");
  for (const auto& pair : launch_pairs()) {
    std::vector<timed_subject> subjects(2);
    subjects[0].name = "keramos", subjects[0].run = pair.keramos;
    subjects[1].name = "kokkos", subjects[1].run = pair.kokkos;
    for (auto& s : subjects) {
      s.calls = options.calls, s.repetitions = options.repetitions;
      s.before = [](int) {};
      s.run(options.calls / 4 + 1);  // warm
    }
    time_interleaved(subjects);
    for (const auto& s : subjects)
      if (!s.failure.empty()) throw std::runtime_error(s.failure);
    const auto keramos = summarize(subjects[0].seconds), kokkos = summarize(subjects[1].seconds);
    // Of repetitions beside each other, since clocks drift more than the two differ.
    std::vector<double> differences(subjects[0].seconds);
    for (std::size_t r = 0; r < differences.size(); ++r) differences[r] -= subjects[1].seconds[r];
    const auto overhead = summarize(differences);
    fmt::print("{:25} {:12.1f} {:12.1f} {:12.1f} {:8.1f} {:10.1f}\n", pair.name, keramos.median * 1e9,
               kokkos.median * 1e9, overhead.median * 1e9, 100 * overhead.median / kokkos.median,
               overhead.iqr * 1e9);
    document["results"].push_back({{"launch", pair.name},
                                   {"keramos_s", keramos.median},
                                   {"keramos_iqr_s", keramos.iqr},
                                   {"kokkos_s", kokkos.median},
                                   {"kokkos_iqr_s", kokkos.iqr},
                                   {"overhead_s", overhead.median},
                                   {"overhead_iqr_s", overhead.iqr}});
  }
  if (!options.output.empty()) {
    replace_file(options.output, to_text(document, 2) + '\n');
  }
  return 0;
}

}  // namespace

void add_overhead_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<overhead_options>();
  auto* overhead = app.add_subcommand("overhead", "what a launch costs over the same launch by Kokkos alone");
  overhead->add_option("--repetitions", options->repetitions, "timed repetitions")->capture_default_str();
  overhead->add_option("--calls", options->calls, "launches of one repetition")->capture_default_str();
  overhead->add_option("--output", options->output, "write JSON to this file");
  overhead->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] { return run_overhead(*options, argc, argv); };
  });
}

}  // namespace keramos::perf

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <random>

#include "cluster/communicator.hpp"
#include "cluster/job.hpp"
#include "measure/core/interrupt.hpp"
#include "report/context.hpp"
#include "report/output.hpp"
#include "report/progress.hpp"
#include "resume.hpp"
#include "session.hpp"

namespace keramos::perf {
namespace {

std::uint64_t seed_of(const gemm_command_options& options) {
  return options.seed != 0 ? options.seed : std::random_device{}() | 1u;
}

// Cases one after the other; returns whether all was well.
bool measure_all(gemm_session& session, const earlier_run& earlier, std::uint64_t seed, run_output& output,
                 const progress_line& progress) {
  result_table table(session.providers(), session.knows_peak(), session.batched());
  time_left left(session.costs());
  bool good = earlier.good() && session.has_all();
  for (std::size_t i = 0; i < session.cases().size(); ++i) {
    throw_if_interrupted();
    if (earlier.has(session.cases()[i])) continue;
    const auto outcome = session.measure(i, seed, [&](const std::string& what) {
      progress.show(fmt::format("{}  {}  {}", session.title(i), left.text(), what));
    });
    left.part_done();
    progress.clear();
    output.print(table.row(session.cases()[i], outcome.rows));
    good = good && outcome.good;
    for (const auto& r : outcome.rows) output.add(to_row(r));
    output.save();
  }
  return good;
}

int run_alone(const gemm_command_options& options, int& argc, char** argv) {
  const progress_line progress;
  progress.show("starting, and measuring the device's peak");
  gemm_session session(options, argc, argv);
  progress.clear();
  for (const auto& line : session.unavailable()) fmt::print(stderr, "keramos-perf: {}\n", line);
  run_output output(options.format, options.output);
  output.context = session.context();
  const auto earlier = resume(options, output, 1);
  const auto seed = earlier.seed() != 0 ? earlier.seed() : seed_of(options);
  output.context["seed"] = seed;
  output.print(headline(output.context));
  output.print(earlier.text());
  output.save();
  try {
    const bool good = measure_all(session, earlier, seed, output, progress);
    output.finish();
    return good ? 0 : 1;
  } catch (interruption& interrupted) {
    progress.clear();
    output.finish(fmt::format("interrupted by signal {}; the cases before are here", interrupted.signal));
    interrupted.told = true;
    throw;
  }
}

// What can be found wrong before anything is started.
void check_usage(const gemm_command_options& options) {
  options.check();
  options.cases("1", 1);
  check_output_file(options.output);
}

}  // namespace

void add_gemm_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv, bool batched) {
  auto options = std::make_shared<gemm_command_options>();
  options->batched = batched;
  auto* gemm =
      batched ? app.add_subcommand("batched", "C <- alpha op(A) op(B) + beta C for every matrix of a batch")
              : app.add_subcommand("gemm", "C <- alpha op(A) op(B) + beta C");
  options->add_to(*gemm);
  options->add_job_options_to(*gemm);
  gemm->footer(
      batched
          ? "Every result is verified; GB/s count what must be read and written once.\n"
            "Examples:\n"
            "  keramos-perf batched --size '4:128:*2' --op NN,NT,TN,TT\n"
            "  keramos-perf batched --m 12 --n 8 --k 20 --batch 100000 --form strided,pointers\n"
            "  keramos-perf batched --grouped perf/data/shapes/experts.csv --type bf16 --output experts.json"
          : "Every result is verified: exit status 1 if one is wrong.\n"
            "Examples:\n"
            "  keramos-perf gemm --type f64 --size '256:4096:*2' --output results.json\n"
            "  keramos-perf gemm --shapes perf/data/shapes/deep_learning.csv --provider keramos,openblas\n"
            "  mpirun -n 4 --bind-to none keramos-perf gemm --size 2048 --isolated --output job.json");
  gemm->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      check_usage(*options);
      note_interrupts();
      if (const auto ranks = join_job(argc, argv))
        return run_job(*ranks, *options, seed_of(*options), argc, argv);
      return run_alone(*options, argc, argv);
    };
  });
}

}  // namespace keramos::perf

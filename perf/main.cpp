// keramos-perf: dispatches to its subcommands, one folder each.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "cluster/communicator.hpp"
#include "commands/compare/command.hpp"
#include "commands/completion/command.hpp"
#include "commands/distributed/command.hpp"
#include "commands/epilogue/command.hpp"
#include "commands/explain/command.hpp"
#include "commands/gemm/command.hpp"
#include "commands/info/command.hpp"
#include "commands/kernels/command.hpp"
#include "commands/overhead/command.hpp"
#include "commands/portability/command.hpp"
#include "commands/roofline/command.hpp"
#include "commands/support/command.hpp"
#include "git_revision.hpp"
#include "ladder/command.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/core/problem.hpp"
#include "measure/workers/worker.hpp"
#include "report/page/command.hpp"

namespace {

// Kokkos' own options are for Kokkos: everything else is for us.
std::vector<std::string> own_arguments(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::erase_if(arguments, [](const std::string& a) { return a.starts_with("--kokkos-"); });
  return {arguments.rbegin(), arguments.rend()};  // the order CLI11 wants
}

int bad_usage(const std::string& message) {
  std::fprintf(stderr, "keramos-perf: %s\n", message.c_str());
  return 2;
}

#ifdef KERAMOS_PERF_HAS_ALL_COMMANDS
constexpr bool has_all_commands = true;
#else
constexpr bool has_all_commands = false;
#endif

// What was printed must have arrived: a full disk is a failure.
int with_output_written(int status) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return status;
  std::fprintf(stderr,
               "keramos-perf: the standard output cannot be written: write it elsewhere, or --output FILE\n");
  return status == 0 ? 1 : status;
}

}  // namespace

int main(int argc, char** argv) {
  keramos::perf::end_on_interrupts();
  CLI::App app("Measures Keramos beside other libraries and verifies every result", "keramos-perf");
  app.require_subcommand(1);
  app.set_version_flag("--version", fmt::format("keramos-perf {}, revision {}, {}, built with {}",
                                                keramos::perf::build_version, keramos::perf::git_revision,
                                                keramos::perf::build_backend, keramos::perf::build_compiler));
  std::function<int()> command;
  keramos::perf::add_gemm_command(app, command, argc, argv);
  keramos::perf::add_gemm_command(app, command, argc, argv, true);
  keramos::perf::add_explain_command(app, command, argc, argv);
  keramos::perf::add_info_command(app, command, argc, argv);
#ifdef KERAMOS_PERF_HAS_ALL_COMMANDS
  keramos::perf::add_compare_command(app, command);
  keramos::perf::add_portability_command(app, command);
  keramos::perf::add_report_command(app, command);
  keramos::perf::add_ladder_command(app, command, argc, argv);
  keramos::perf::add_roofline_command(app, command, argc, argv);
  keramos::perf::add_kernels_command(app, command, argc, argv);
  keramos::perf::add_overhead_command(app, command, argc, argv);
  keramos::perf::add_epilogue_command(app, command, argc, argv);
#ifdef KERAMOS_PERF_HAS_DIST
  keramos::perf::add_distributed_command(app, command, argc, argv);
#endif
  keramos::perf::add_support_command(app, command);
#else
  app.footer(
      "Other commands: bash perf/run COMMAND [options] builds a keramos-perf that has them all, and runs it");
#endif
  keramos::perf::add_worker_command(app, command, argc, argv);
  if (argc > 1 && std::string(argv[1]) == "complete") {  // for shells
    keramos::perf::print_completions(app, {argv + 2, argv + argc});
    return with_output_written(0);
  }
  try {
    app.parse(own_arguments(argc, argv));
  } catch (const CLI::Success& asked) {  // --help, --version
    return with_output_written(app.exit(asked));
  } catch (const CLI::RequiredError& error) {
    const auto chosen = app.get_subcommands();
    if (chosen.empty()) {
      const std::string first = argc > 1 ? argv[1] : "-";
      if (!has_all_commands && first[0] != '-') {
        return bad_usage(
            fmt::format("no command of this keramos-perf is named '{0}': bash perf/run {0} [options] "
                        "builds one that has all commands, and runs it",
                        first));
      }
      return bad_usage((first[0] == '-' ? "no command" : "no command is named '" + first + "'") +
                       ": write keramos-perf gemm [options] (--help lists them and other commands)");
    }
    const auto name = chosen.front()->get_name();
    return bad_usage(std::string(error.what()) + ": write keramos-perf " + name + " with it (keramos-perf " +
                     name + " --help has an example)");
  } catch (const CLI::ParseError& error) {
    const auto chosen = app.get_subcommands();
    const std::string name = chosen.empty() ? "gemm" : chosen.front()->get_name();
    return bad_usage(std::string(error.what()) + ": write keramos-perf " + name +
                     " [options] (keramos-perf " + name + " --help lists them)");
  }
  const auto name = app.get_subcommands().front()->get_name();
  if (name != "gemm" && name != "batched" && name != "worker" && name != "distributed" &&
      keramos::perf::launched_ranks() > 1) {
    return bad_usage("keramos-perf " + name + " runs once, not on every rank: write keramos-perf " + name +
                     " without mpirun or srun");
  }
  try {
    return with_output_written(command());
  } catch (const keramos::perf::usage_error& error) {
    return bad_usage(error.what());
  } catch (const keramos::perf::interruption& interrupted) {  // before anything was measured, unless told
    if (!interrupted.told)
      std::fprintf(stderr, "keramos-perf: INCOMPLETE: interrupted by signal %d\n", interrupted.signal);
    return 128 + interrupted.signal;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "keramos-perf: %s\n", error.what());
    // What an interruption made fail is no other failure.
    const int signal = keramos::perf::interrupting_signal();
    return signal != 0 ? 128 + signal : 1;
  }
}

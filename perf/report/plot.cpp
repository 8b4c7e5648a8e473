#include "plot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

namespace keramos::perf {
namespace {

// The exit status; 127 if there is no such program.
int run_program(std::vector<std::string> arguments) {
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0) return 127;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

void draw_plot(const std::string& folder, const std::string& results_file, const std::string& base) {
  // The first may be one without Debian's packages.
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    const char* const probe =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";
    if (run_program({python, "-c", probe}) != 0) continue;
    if (run_program({python, folder + "/plot.py", results_file, "-o", base}) == 0) return;
    throw std::runtime_error(fmt::format("{}/plot.py could not draw {}", folder, results_file));
  }
  throw std::runtime_error(
      "no plot: it needs python3 with matplotlib: install python3-matplotlib, or leave --plot out");
}

}  // namespace keramos::perf

#include "plot.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "measure/core/program.hpp"

namespace keramos::perf {

void draw_plot(const std::string& folder, const std::string& results_file, const std::string& base) {
  // The first may be one without Debian's packages.
  for (const std::string& python : {find_program("python3"), std::string("/usr/bin/python3")}) {
    if (!std::filesystem::exists(python)) continue;
    const char* const probe =
        "import importlib.util, sys; sys.exit(importlib.util.find_spec('matplotlib') is None)";
    if (run_program({python, "-c", probe}).status != 0) continue;
    const auto drawn = run_program({python, folder + "/plot.py", results_file, "-o", base});
    if (drawn.status == 0) return;
    throw std::runtime_error(
        fmt::format("{}/plot.py could not draw {}: {}", folder, results_file, drawn.text));
  }
  throw std::runtime_error(
      "no plot: it needs python3 with matplotlib: install python3-matplotlib, or leave --plot out");
}

}  // namespace keramos::perf

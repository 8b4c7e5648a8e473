#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "build_info.hpp"
#include "measure/core/host.hpp"
#include "measure/core/json.hpp"
#include "report/output.hpp"
#include "table.hpp"

namespace keramos::perf {
namespace {

struct support_options {
  std::vector<std::string> files;
  std::string record, output;
};

std::vector<std::string> shipped_files() {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry :
       std::filesystem::directory_iterator(data_folder(perf_folder) + "/data/support", none))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw usage_error(path + ": cannot be read: write the path of what tests have written");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

int run_support(const support_options& options) {
  if (options.record.empty() != options.output.empty())
    throw usage_error("--record and --output go together: write --record lines.json --output openmp.json");
  if (!options.record.empty()) {
    check_output_file(options.output);
    const auto recording = merge_support(text_of(options.record), options.record, build_version);
    replace_file(options.output, to_text(to_json(recording), 1) + '\n');
    fmt::print("{}", support_table(recording));
    return 0;
  }
  const auto files = options.files.empty() ? shipped_files() : options.files;
  if (files.empty()) throw usage_error("there is no recording: write --file with one");
  for (const auto& file : files) {
    fmt::print("{}{}", &file == &files.front() ? "" : "\n", support_table(read_support(file)));
  }
  return 0;
}

}  // namespace

void add_support_command(CLI::App& app, std::function<int()>& command) {
  auto options = std::make_shared<support_options>();
  auto* support = app.add_subcommand(
      "support", "Which types, ops, layouts and forms of products the tests have done, by backend");
  support->add_option("--file", options->files, "recordings (default: those in perf/data/support)");
  support->add_option("--record", options->record,
                      "make a recording of what a run of gemm_tests has written: the file that the variable "
                      "KERAMOS_SUPPORT_FILE named");
  support->add_option("--output", options->output, "write the recording to this file");
  support->footer(
      "Examples:\n"
      "  keramos-perf support\n"
      "  KERAMOS_SUPPORT_FILE=lines.json gemm_tests && \\\n"
      "    keramos-perf support --record lines.json --output perf/data/support/openmp.json");
  support->callback([options, &command] { command = [options] { return run_support(*options); }; });
}

}  // namespace keramos::perf

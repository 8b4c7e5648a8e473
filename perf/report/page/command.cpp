#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/core/json.hpp"
#include "page.hpp"
#include "report/output.hpp"
#include "report/result.hpp"

namespace keramos::perf {
namespace {

struct report_options {
  std::string results;
  std::string folder;
};

// The rows of a document of any command, and the page for them.
struct contents {
  nlohmann::ordered_json rows;
  std::string page;
};
contents contents_of(const nlohmann::ordered_json& document, const std::string& path) {
  for (const char* rows : {"results", "kernels"}) {  // of overhead, of roofline
    const auto schema =
        rows == std::string("results") ? "keramos-perf-overhead/1" : "keramos-perf-roofline/1";
    if (document.is_object() && document.value("schema", nlohmann::ordered_json()) == schema &&
        document.contains(rows)) {
      return {document[rows], rows_page(document, rows)};
    }
  }
  const auto file = results_of(document, path);
  return {document["results"], report_page(file, document)};
}

int run(const report_options& o) {
  const auto document = read_json(o.results);
  const auto made = reading(o.results, [&] { return contents_of(document, o.results); });
  std::error_code failed;
  std::filesystem::create_directories(o.folder, failed);
  if (!std::filesystem::is_directory(o.folder)) {
    throw usage_error(
        fmt::format("{} is no folder and cannot be made one: write -o with a folder's path", o.folder));
  }
  const auto page = (std::filesystem::path(o.folder) / "index.html").string();
  const auto csv = (std::filesystem::path(o.folder) / "results.csv").string();
  replace_file(page, made.page);
  replace_file(csv, to_csv(made.rows));
  fmt::print("page: {}\nrows: {}\n", page, csv);
  return 0;
}

}  // namespace

void add_report_command(CLI::App& app, std::function<int()>& command) {
  auto o = std::make_shared<report_options>();
  auto* sub = app.add_subcommand("report", "one HTML page, and CSV, from a results file");
  sub->footer(
      "The page needs nothing else, no network either: send it to whoever should see device, backend, "
      "versions,\n"
      "baselines, spread and verification along with tables and plots.\n\n"
      "  keramos-perf gemm --output results.json\n"
      "  keramos-perf report results.json -o report   # open report/index.html");
  sub->add_option("results", o->results,
                  "results file (.json) of gemm, batched, distributed, ladder, kernels, overhead or roofline")
      ->required();
  sub->add_option("-o,--output", o->folder, "folder for index.html and results.csv; made if need be")
      ->required();
  sub->callback([o, &command] { command = [o] { return run(*o); }; });
}

}  // namespace keramos::perf

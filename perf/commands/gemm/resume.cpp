#include "resume.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <map>

#include "measure/core/json.hpp"
#include "report/read.hpp"
#include "report/result.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

// What a command measures does not depend on whether it resumes.
std::string without_resume(std::string command_line) {
  const std::string option = " --resume";
  const auto at = command_line.find(option);
  return at == std::string::npos ? command_line : command_line.erase(at, option.size());
}

// What must be the same for rows to stand in one file.
void require_same(const std::string& path, const results_file& file, const json& context, int ranks) {
  const auto refuse = [&](const std::string& what, const std::string& theirs, const std::string& ours) {
    throw usage_error(fmt::format(
        "--resume: {} has the {} '{}', and this run '{}': write another --output, or leave --resume out to "
        "replace the file",
        path, what, theirs, ours));
  };
  results_file here;
  here.context = context;
  const auto before = without_resume(file.text("command_line"));
  const auto now = without_resume(here.text("command_line"));
  if (before != now) refuse("command", before, now);
  for (const char* key : {"device", "device_identity", "backend", "threads", "compiler", "flags",
                          "keramos_version", "git_revision", "kokkos_version", "providers"}) {
    // In any order of an object's keys.
    const nlohmann::json theirs = file.context.value(key, json()), ours = context.value(key, json());
    if (theirs != ours) refuse(key, file.text(key), here.text(key));
  }
  const auto at = file.context.find("ranks");
  const auto had = at == file.context.end() ? 1 : int(at->size());
  if (had != ranks) refuse("number of ranks", std::to_string(had), std::to_string(ranks));
}

json key_of_row(const json& row) {
  json key;
  for (const char* name : {"type", "op_a", "op_b", "layout", "m", "n", "k", "alpha", "beta", "batch", "form",
                           "list", "extents"}) {
    key.push_back(row.value(name, json()));
  }
  return key;
}

}  // namespace

std::string earlier_run::key(const gemm_case& g) {
  gemm_result of;
  of.problem = g;
  return key_of_row(to_row(of)).dump();
}

earlier_run::earlier_run(const std::string& path, const json& context, int ranks) {
  if (!std::filesystem::exists(path)) return;
  const auto document = read_json(path);
  const auto file = results_of(document, path);
  require_same(path, file, context, ranks);
  seed_ = file.context.value("seed", std::uint64_t(0));

  std::map<std::string, std::set<int>> measured;
  for (const auto& row : document["results"]) measured[key_of_row(row).dump()].insert(row.value("rank", 0));
  for (const auto& [key, by] : measured) {
    if (int(by.size()) == ranks) cases_.insert(key);
  }
  for (const auto& row : document["results"]) {
    if (!cases_.contains(key_of_row(row).dump())) continue;
    const auto status = row.value("status", "");
    good_ = good_ && status != "wrong" && status != "failed";
    rows_.push_back(row);
  }
  history_ = file.context.value("resumed", json::array());
  std::size_t kept = rows_.size();
  for (const auto& run : history_) kept -= run.value("rows", std::size_t(0));
  history_.push_back({{"date", file.text("date")}, {"host", file.text("host")}, {"rows", kept}});
}

std::string earlier_run::text() const {
  if (history_.empty()) return {};
  return fmt::format("{} rows are kept of the run of {}\n", rows_.size(), history_.back().value("date", ""));
}

earlier_run resume(const gemm_command_options& options, run_output& output, int ranks) {
  if (!options.resume) return {};
  auto earlier = reading(options.output, [&] { return earlier_run(options.output, output.context, ranks); });
  for (const auto& row : earlier.rows()) output.add(row);
  if (!earlier.history().empty()) output.context["resumed"] = earlier.history();
  return earlier;
}

}  // namespace keramos::perf

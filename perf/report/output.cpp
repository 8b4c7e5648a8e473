#include "output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "core/problem.hpp"
#include "result.hpp"

namespace keramos::perf {

std::string to_text(const nlohmann::ordered_json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

void replace_file(const std::string& path, const std::string& content) {
  const auto part = path + ".part";
  {
    std::ofstream out(part, std::ios::binary);
    out << content;
    if (!out.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path));
  }
  std::filesystem::rename(part, path);
}

void check_output_folder(const std::string& path) {
  if (path.empty()) return;
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::is_directory(folder)) return;
  throw usage_error(
      fmt::format("--output {0}: there is no folder {1}: write mkdir -p {1} first", path, folder.string()));
}

run_output::run_output(std::string format, std::string path)
    : format_(std::move(format)), path_(std::move(path)) {
  file_format_ = !format_.empty()          ? format_
                 : path_.ends_with(".csv") ? "csv"
                 : path_.ends_with(".txt") ? "table"
                                           : "json";
}

bool run_output::table_is_shown() const { return !path_.empty() || format_.empty() || format_ == "table"; }

void run_output::print(const std::string& text) {
  table_text_ += text;
  if (!table_is_shown()) return;
  fmt::print("{}", text);
  std::fflush(stdout);
}

std::string run_output::rendered(const std::string& format) const {
  if (format == "csv") return to_csv(rows_);
  if (format != "json") return table_text_;
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf/1";
  document["context"] = context;
  for (const auto& [name, part] : more.items()) document[name] = part;
  document["results"] = rows_;
  return document.dump(2) + '\n';
}

void run_output::save() {
  context["complete"] = false;
  context["incomplete_because"] = "it was still running, or was ended without a warning";
  if (!path_.empty()) replace_file(path_, rendered(file_format_));
}

void run_output::finish(const std::string& incomplete_because) {
  context.erase("incomplete_because");
  context["complete"] = incomplete_because.empty();
  if (!incomplete_because.empty()) {
    context["incomplete_because"] = incomplete_because;
    print(fmt::format("INCOMPLETE: {}\n", incomplete_because));
  }
  if (!path_.empty()) replace_file(path_, rendered(file_format_));
  if (!table_is_shown()) fmt::print("{}", rendered(format_));
}

}  // namespace keramos::perf

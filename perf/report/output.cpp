#include "output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "result.hpp"

namespace keramos::perf {

namespace {

// A pipe, a terminal or the like, or an open file of this process (/dev/stdout): written once and as it is.
bool is_stream(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto is_open_file = [&](const fs::path& p) {
    return fs::weakly_canonical(fs::absolute(p).parent_path(), none).string().starts_with("/proc/");
  };
  fs::path place = path;
  for (int links = 0; links < 40 && !is_open_file(place) && fs::is_symlink(place, none); ++links)
    place = place.parent_path() / fs::read_symlink(place, none);
  return is_open_file(place) || (fs::exists(place, none) && !fs::is_regular_file(place, none));
}

}  // namespace

void replace_file(const std::string& path, const std::string& content) {
  namespace fs = std::filesystem;
  const bool direct = is_stream(path);
  const auto target = direct ? fs::path(path) : fs::weakly_canonical(path);  // not a symlink
  const auto written = direct ? target : fs::path(target.string() + ".part");
  {
    std::ofstream out(written, std::ios::binary);
    out << content;
    if (!out.flush()) {
      throw std::runtime_error(fmt::format("{} cannot be written ({}): write --output with another path",
                                           path, std::strerror(errno)));
    }
  }
  if (!direct) fs::rename(written, target);
}

void check_output_folder(const std::string& path) {
  if (path.empty()) return;
  const auto folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::is_directory(folder)) return;
  throw usage_error(
      fmt::format("--output {0}: there is no folder {1}: write mkdir -p {1} first", path, folder.string()));
}

void check_output_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw usage_error(fmt::format("--output {0} is a folder: write --output {0}/results.json", path));
  check_output_folder(path);
}

run_output::run_output(std::string format, std::string path)
    : format_(std::move(format)), path_(std::move(path)), file_format_(file_format(format_, path_)) {}

std::string run_output::file_format(const std::string& format, const std::string& path) {
  return !format.empty()          ? format
         : path.ends_with(".csv") ? "csv"
         : path.ends_with(".txt") ? "table"
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
  return to_text(document, 2) + '\n';
}

void run_output::save() {
  context["complete"] = false;
  context["incomplete_because"] = "it was still running, or was ended without a warning";
  if (!path_.empty() && !is_stream(path_)) replace_file(path_, rendered(file_format_));
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

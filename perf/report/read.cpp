#include "read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "measure/core/range.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

// The order that problems are told in, whatever order a tool has put the keys into.
std::size_t rank_of(const std::string& key) {
  constexpr const char* first[] = {"type", "op_a", "op_b", "layout", "m", "n", "k"};
  return std::size_t(std::find(std::begin(first), std::end(first), key) - std::begin(first));
}

// Texts that do not say which problem it is.
bool is_no_key(const std::string& key) {
  return key == "provider" || key == "backend" || key == "device" || key == "status" || key == "reason";
}

// Whole numbers that are figures nevertheless.
bool is_figure(const std::string& key) {
  return key == "repetitions" || key == "rank" || key.find("bytes") != std::string::npos;
}

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

double number(const json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_number() ? at->get<double>() : 0;
}

// None unless all are times.
std::vector<double> samples(const json& row, const char* key) {
  std::vector<double> all;
  const auto at = row.find(key);
  if (at == row.end() || !at->is_array()) return all;
  for (const auto& s : *at) {
    if (!s.is_number() || !(s.get<double>() > 0)) return {};
    all.push_back(s.get<double>());
  }
  return all;
}

// That everything which is looked at is of the type that it should be.
void check_types(const json& document, const std::string& path) {
  using enum json_kind;
  const auto& context = document["context"];
  require(object, context, path, "context");
  require(object, context, {"peak_gflops", "providers", "environment", "device_identity"}, path, "context");
  require(boolean, context, {"complete", "device_is_host"}, path, "context");
  require(list, document, {"results"}, path, "the file");
  require(object, document, {"job"}, path, "the file");
  const auto peaks = context.value("peak_gflops", json::object());
  const auto providers = context.value("providers", json::object());
  for (const auto& [type, peak] : peaks.items()) require(number, peak, path, "context.peak_gflops." + type);
  for (const auto& [name, provider] : providers.items()) {
    const auto where = "context.providers." + name;
    if (provider.is_null()) require(object, json::array(), path, where);
    require(object, provider, path, where);
    require(text, provider, {"status", "reason", "version"}, path, where);
    require(list, provider, {"libraries"}, path, where);
    for (const auto& library : provider.value("libraries", json::array()))
      require(text, library, path, where + ".libraries");
  }
  const auto rows = [&](const json& parent, const char* key, const auto& check) {
    const auto all = parent.find(key);
    if (all == parent.end() || !all->is_array()) return;
    for (std::size_t i = 0; i < all->size(); ++i) {
      const auto where = fmt::format("{}[{}]", key, i);
      if (!(*all)[i].is_object()) require(object, json::array(), path, where);
      check((*all)[i], where);
    }
  };
  rows(context, "ranks", [&](const json& rank, const std::string& where) {
    require(text, rank, {"host", "device", "bound", "status", "reason"}, path, where);
  });
  rows(document.value("job", json::object()), "ranks", [&](const json& rank, const std::string& where) {
    require(text, rank, {"rank"}, path, where);
    require(number, rank, {"relative_time"}, path, where);
    require(boolean, rank, {"outlier"}, path, where);
  });
  rows(document, "results", [&](const json& row, const std::string& where) {
    require(text, row,
            {"provider", "backend", "device", "type", "op_a", "op_b", "layout", "form", "list", "status",
             "reason"},
            path, where);
    require(list, row, {"extents"}, path, where);
    require(number, row,
            {"m", "n", "k", "batch", "rank", "repetitions", "median_s", "min_s", "iqr_s", "gflops",
             "gbytes_per_s", "peak_fraction", "max_error", "error_bound"},
            path, where);
    require(boolean, row, {"verified"}, path, where);
    for (const char* key : {"samples_s", "cpu_samples_s"}) {
      require(list, row, {key}, path, where);
      for (const auto& s : row.value(key, json())) require(number, s, path, where + '.' + key);
    }
    require(object, row, {"ladder"}, path, where);
    if (const auto step = row.find("ladder"); step != row.end() && step->is_object()) {
      require(text, *step, {"step"}, path, where + ".ladder");
      require(number, *step, {"number", "tile_width", "gain"}, path, where + ".ladder");
    }
  });
}

}  // namespace

result_row row_of(const json& from) {
  result_row row;
  for (const auto& [key, value] : from.items()) {
    if (is_no_key(key) || is_figure(key)) continue;
    const bool is_scalar = (key == "alpha" || key == "beta") && value.is_number();
    if (value.is_string() || value.is_number_integer() || is_scalar)
      row.keys.emplace_back(key, text_of(value));
  }
  std::sort(row.keys.begin(), row.keys.end(), [](const auto& a, const auto& b) {
    return std::pair(rank_of(a.first), a.first) < std::pair(rank_of(b.first), b.first);
  });
  if (from.contains("provider")) row.provider = text_of(from["provider"]);
  if (from.contains("extents")) row.extents = to_text(from["extents"]);
  row.m = std::int64_t(number(from, "m"));
  row.n = std::int64_t(number(from, "n"));
  row.k = std::int64_t(number(from, "k"));
  row.rank = from.contains("rank") ? int(number(from, "rank")) : -1;
  row.repetitions = int(number(from, "repetitions"));
  row.median_s = number(from, "median_s");
  row.min_s = number(from, "min_s");
  row.iqr_s = number(from, "iqr_s");
  row.samples = samples(from, "samples_s");
  row.cpu_samples = samples(from, "cpu_samples_s");
  row.gflops = number(from, "gflops");
  row.gbytes_per_s = number(from, "gbytes_per_s");
  row.peak_fraction = number(from, "peak_fraction");
  row.max_error = number(from, "max_error");
  row.error_bound = number(from, "error_bound");
  if (from.contains("status")) row.status = text_of(from["status"]);
  if (from.contains("reason")) row.reason = text_of(from["reason"]);
  if (from.contains("verified") && from["verified"].is_boolean()) row.verified = from["verified"].get<bool>();
  if (const auto ladder = from.find("ladder"); ladder != from.end() && ladder->is_object()) {
    row.step = ladder->value("step", "");
    row.step_number = int(number(*ladder, "number"));
    row.tile_width = int(number(*ladder, "tile_width"));
    row.gain = number(*ladder, "gain");
  }
  return row;
}

std::string result_row::value(const std::string& key) const {
  for (const auto& [name, text] : keys) {
    if (name == key) return text;
  }
  return {};
}

std::string result_row::problem() const {
  std::string text;
  const auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  for (const auto& [key, value] : keys) {
    if (key == "op_b" || key == "n" || key == "k") continue;  // said with op_a and m
    if (key == "op_a") {
      add(value + this->value("op_b"));
    } else if (key == "m") {
      add(m == n && n == k ? value : fmt::format("{}x{}x{}", m, n, k));
    } else if (key == "type" || key == "layout" || key == "shape" || key == "kernel" || key == "host") {
      add(value);
    } else {
      add(fmt::format("{} {}", key, value));
    }
  }
  return text;
}

std::string results_file::text(const std::string& key) const {
  const auto at = context.find(key);
  return at == context.end() || at->is_null() ? std::string() : text_of(*at);
}

std::string results_file::platform() const {
  auto name = fmt::format("{}, {}", text("device"), text("backend"));
  if (text("device_is_host") == "true") {
    const auto threads = text("threads");
    name += fmt::format(", {} thread{}", threads, threads == "1" ? "" : "s");
  }
  return name;
}

namespace {

// What a context says of its device beyond the name; empty in files of older versions.
json identity_of(const json& context) {
  const auto at = context.find("device_identity");
  return at != context.end() && at->is_object() ? *at : json::object();
}

}  // namespace

std::string device_difference(const json& one, const json& other) {
  std::string text;
  const auto own = identity_of(one), theirs = identity_of(other);
  for (const auto& [key, value] : own.items()) {
    const auto at = theirs.find(key);
    if (at == theirs.end() || *at == value) continue;
    text += fmt::format("{}{} '{}' and '{}'", text.empty() ? "" : ", ", key, text_of(value), text_of(*at));
  }
  return text;
}

std::vector<std::string> platform_names(const std::vector<results_file>& files) {
  std::vector<std::string> names;
  for (const auto& file : files) {
    const auto own = identity_of(file.context);
    std::string difference;
    for (const auto& [key, value] : own.items()) {
      const auto differs = [&, k = key, v = value](const results_file& f) {
        const auto theirs = identity_of(f.context);
        return f.platform() == file.platform() && theirs.contains(k) && theirs[k] != v;
      };
      if (std::any_of(files.begin(), files.end(), differs)) {
        difference += fmt::format(", {} {}", key, text_of(value));
      }
    }
    names.push_back(file.platform() + difference);
  }
  return names;
}

results_file results_of(const json& document, const std::string& path) {
  if (!document.is_object() || !document.contains("context") || !document.contains("results") ||
      document.value("schema", json()) != "keramos-perf/1") {
    throw usage_error(fmt::format(
        "{}: not a keramos-perf/1 file: write the path of one made with --output NAME.json", path));
  }
  check_types(document, path);
  results_file file;
  file.path = path;
  file.context = document["context"];
  file.complete = file.context.value("complete", true);
  const auto peaks = file.context.value("peak_gflops", json::object());
  for (const auto& row : document["results"]) file.rows.push_back(row_of(row));
  for (auto& row : file.rows) {  // older files have the peak only
    const double peak = number(peaks, row.value("type").c_str());
    if (row.peak_fraction == 0 && peak > 0) row.peak_fraction = row.gflops / peak;
  }
  return file;
}

results_file parse_results(const std::string& text, const std::string& path) {
  return results_of(parse_json(text, path), path);
}

results_file read_results(const std::string& path) { return results_of(read_json(path), path); }

void keep_where(std::vector<result_row>& rows, const std::vector<std::string>& conditions) {
  for (const auto& condition : conditions) {
    const auto equals = condition.find('=');
    const auto key = condition.substr(0, equals);
    const auto has_key = [&](const result_row& r) { return !r.value(key).empty(); };
    const bool known = key == "provider" || std::any_of(rows.begin(), rows.end(), has_key);
    if (equals == std::string::npos || !known) {
      throw usage_error(fmt::format(
          "--where {}: no such key in the rows: write --where type=f32, say, or op_a=N", condition));
    }
    const auto wanted = split_list(condition.substr(equals + 1));
    std::erase_if(rows, [&](const result_row& r) {
      const auto value = key == "provider" ? r.provider : r.value(key);
      return std::find(wanted.begin(), wanted.end(), value) == wanted.end();
    });
  }
}

void add_unique(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

double geometric_mean(const std::vector<double>& values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  double sum = 0;
  for (const double v : values) sum += std::log(v);
  return std::exp(sum / double(values.size()));
}

std::string aligned(const std::vector<std::vector<std::string>>& lines, std::size_t left) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], line[i].size());
    }
  }
  std::string text;
  for (const auto& line : lines) {
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
      if (i > 0) out += "  ";
      out += i < left ? fmt::format("{:<{}}", line[i], widths[i]) : fmt::format("{:>{}}", line[i], widths[i]);
    }
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + '\n';
  }
  return text;
}

}  // namespace keramos::perf

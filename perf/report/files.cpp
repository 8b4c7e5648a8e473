// JSON and CSV.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/core/json.hpp"
#include "result.hpp"

namespace keramos::perf {
namespace {

// Objects in a row become columns of their own, "ladder.step" say; lists stay JSON.
nlohmann::ordered_json flat(const nlohmann::ordered_json& row) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const auto& [key, value] : row.items()) {
    if (!value.is_object()) out[key] = value;
    if (!value.is_object()) continue;
    for (const auto& [inner, part] : value.items()) out[key + '.' + inner] = part;
  }
  return out;
}

}  // namespace

std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

std::string_view name(outcome o) {
  switch (o) {
    case outcome::verified:
      return "verified";
    case outcome::mismatch:
      return "wrong";
    case outcome::failed:
      return "failed";
    case outcome::unavailable:
      break;
  }
  return "unavailable";
}

std::string gemm_result::trouble() const {
  if (status != outcome::mismatch) return reason;
  return fmt::format("{} is off by {:.3g}, allowed {:.3g}", check.where, check.error, check.bound);
}

nlohmann::ordered_json to_row(const gemm_result& r) {
  const auto& g = r.problem;
  nlohmann::ordered_json row;
  row["provider"] = r.provider;
  row["backend"] = r.backend;
  row["device"] = r.device;
  row["type"] = name(g.type);
  row["op_a"] = name(g.op_a);
  row["op_b"] = name(g.op_b);
  row["layout"] = name(g.layout);
  row["m"] = g.m;
  row["n"] = g.n;
  row["k"] = g.k;
  if (g.alpha != 1) row["alpha"] = g.alpha;
  if (g.beta != 0) row["beta"] = g.beta;
  if (g.batch > 0) row["batch"] = g.batch;
  if (g.form != batch_form::strided) row["form"] = name(g.form);
  if (!g.list.empty()) {
    row["list"] = g.list_name;
    for (const auto& p : g.list) row["extents"].push_back({p.m, p.n, p.k});
  }
  row["repetitions"] = r.seconds.count;
  const auto put = [&](const char* key, double value) {
    if (r.timed()) row[key] = value;
    if (!r.timed()) row[key] = nullptr;
  };
  put("median_s", r.seconds.median);
  put("min_s", r.seconds.min);
  put("iqr_s", r.seconds.iqr);
  row["samples_s"] = nullptr;
  if (r.timed()) row["samples_s"] = r.samples;
  const auto known = [](double s) { return s > 0; };
  if (r.timed() && std::count_if(r.cpu_samples.begin(), r.cpu_samples.end(), known) == r.seconds.count) {
    row["cpu_samples_s"] = r.cpu_samples;
  }
  put("gflops", r.timed() ? r.giga_rate() : 0);
  if (g.batch > 0) put("gbytes_per_s", r.timed() ? r.gigabytes_per_second() : 0);
  row["peak_fraction"] = nullptr;
  if (r.timed() && r.peak_fraction > 0) row["peak_fraction"] = r.peak_fraction;
  put("max_error", r.check.error);
  put("error_bound", r.check.bound);
  row["verified"] = nullptr;  // not run: neither right nor wrong
  if (r.timed()) row["verified"] = r.status == outcome::verified;
  if (r.status != outcome::verified) {
    row["status"] = name(r.status);
    row["reason"] = r.trouble();
  }
  return row;
}

std::string to_json(const nlohmann::ordered_json& context, const std::vector<gemm_result>& results) {
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf/1";
  document["context"] = context;
  document["results"] = nlohmann::ordered_json::array();
  for (const auto& r : results) document["results"].push_back(to_row(r));
  return to_text(document, 2) + '\n';
}

std::string to_csv(const std::vector<gemm_result>& results) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& r : results) rows.push_back(to_row(r));
  return to_csv(rows);
}

std::string to_csv(const nlohmann::ordered_json& all) {
  std::vector<std::string> columns;
  std::vector<nlohmann::ordered_json> rows;
  for (const auto& row : all) {
    rows.push_back(flat(row));
    for (const auto& [key, value] : rows.back().items()) {
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  std::string text = fmt::format("{}\n", fmt::join(columns, ","));
  for (const auto& row : rows) {
    std::string line;
    for (const auto& key : columns) {
      if (&key != &columns.front()) line += ',';
      const auto value = row.find(key);
      if (value == row.end() || value->is_null()) continue;
      line += quoted(value->is_string() ? value->get<std::string>() : to_text(*value));
    }
    text += line + '\n';
  }
  return text;
}

}  // namespace keramos::perf

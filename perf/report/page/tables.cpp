#include "tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "html.hpp"
#include "measure/core/json.hpp"
#include "report/units.hpp"
#include "summary.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

std::string spoken(const std::string& key) { return named_figure(key, 0).name; }

// A row for each value; objects within objects are taken apart.
void add_values(html_table& table, const std::string& name, const std::string& key, const json& value) {
  if (value.is_null() || value.empty()) return;
  if (value.is_object()) {
    for (const auto& [inner, v] : value.items()) {
      // A number has the unit of the object: peak_gflops is one rate for each type.
      const bool of_a_type = v.is_number() && spoken(inner) == inner && spoken(key) != key;
      add_values(table, name + ", " + (of_a_type ? inner : spoken(inner)), of_a_type ? key : inner, v);
    }
  } else if (value.is_array() &&
             std::any_of(value.begin(), value.end(), [](const auto& v) { return v.is_object(); })) {
    for (std::size_t i = 0; i < value.size(); ++i)
      add_values(table, fmt::format("{} {}", name, i), key, value[i]);
  } else {
    table.row({name, plain_text(key, value)});
  }
}

}  // namespace

std::string plain_text(const std::string& key, const json& value, const std::string& type) {
  if (value.is_null()) return {};
  if (value.is_boolean()) return value.get<bool>() ? "yes" : "no";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer() && spoken(key) == key) return value.dump();
  if (value.is_number()) return named_figure(key, value.get<double>(), type).text;
  std::string text;
  for (const auto& [inner, v] : value.items()) {
    const auto one = plain_text(inner, v, type);
    text += (text.empty() ? "" : ", ") + (value.is_object() ? spoken(inner) + ' ' + one : one);
  }
  return text;
}

std::string providers(const results_file& file) {
  const auto all = file.context.find("providers");
  if (all == file.context.end()) return {};
  html_table table("Libraries that were measured", {"provider", "version", "library", "threads"}, 3);
  for (const auto& [name, p] : all->items()) {
    const auto libraries = p.value("libraries", std::vector<std::string>());
    const auto threads = p.find("threads");
    const bool has_threads = threads != p.end() && threads->is_number();
    table.row({name, p.value("status", "") == "available" ? p.value("version", "") : p.value("reason", ""),
               libraries.empty() ? "" : libraries.front(), has_threads ? threads->dump() : ""});
  }
  return section_opening({"providers", "What was measured"}) + table.html();
}

std::string machine(const json& context) {
  html_table table("Machine, build and command", {"what", "value"}, 2);
  for (const auto& [key, value] : context.items()) {
    if (key != "providers" && key != "ranks")
      add_values(table, spoken(key), key, value);  // have tables of their own
  }
  return section_opening({"machine", "Machine, build and command"}) + table.html();
}

std::string ranks(const results_file& file, const json& job) {
  const auto all = file.context.find("ranks");
  if (all == file.context.end() || !all->is_array()) return {};
  html_table table("Ranks of the job. Plots and comparisons are of the median rank.",
                   {"rank", "host", "device", "bound", "status", "relative time"}, 5);
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& r = (*all)[i];
    double relative = 0;
    bool outlier = false;
    for (const auto& member : job.value("ranks", json::array())) {
      if (member.value("rank", "") != fmt::format("rank {}", i)) continue;
      relative = member.value("relative_time", 0.0);
      outlier = member.value("outlier", false);
    }
    const auto status = r.value("status", "");
    table.row({std::to_string(i), r.value("host", ""), r.value("device", ""), r.value("bound", ""),
               r.contains("reason") ? status + ": " + r.value("reason", "") : status,
               relative > 0 ? fmt::format("{:.3f}", relative) : ""},
              outlier || status == "failed");
  }
  return section_opening({"ranks", "Ranks"}) + table.html();
}

std::string results(const results_file& file) {
  const auto any = [&](const auto& is) { return std::any_of(file.rows.begin(), file.rows.end(), is); };
  const bool with_rank = any([](const auto& r) { return r.rank >= 0; });
  const bool with_bytes = any([](const auto& r) { return r.gbytes_per_s > 0; });
  const bool with_operations = any([](const auto& r) { return r.gflops > 0; });
  const auto key_of = [](const result_row& r) { return fmt::format("{}|{}", r.rank, r.problem()); };
  std::map<std::string, const result_row*> own;
  for (const auto& r : file.rows) {
    if (r.provider == "keramos" && r.good()) own[key_of(r)] = &r;
  }

  std::vector<std::string> head{"problem", "provider", "verified"};
  if (with_rank) head.push_back("rank");
  if (with_bytes) head.push_back("bandwidth");
  if (with_operations) head.insert(head.end(), {"rate", "of peak"});
  for (const char* name :
       {"median time", "best time", "spread", "Keramos’ rate over it", "repetitions", "error", "allowed"}) {
    head.push_back(name);
  }
  html_table table("All results, as measured. Ratios: the interquartile range in parentheses.", head, 3);
  table.join_first_two();
  for (const auto& r : file.rows) {
    const bool wrong = r.verified.has_value() && !*r.verified;
    std::vector<std::string> cells{r.problem(), r.provider,
                                   wrong                    ? "WRONG"
                                   : r.verified.has_value() ? "yes"
                                   : r.failed()             ? "FAILED"
                                                            : "not measured"};
    if (!r.reason.empty()) cells.back() += ": " + r.reason;
    if (with_rank) cells.push_back(std::to_string(r.rank));
    if (with_bytes) cells.push_back(rate_text(r.gbytes_per_s, "B/s"));
    if (with_operations) {
      cells.push_back(rate_text(r.gflops, operations_unit(r.value("type"))));
      cells.push_back(percent_text(r.peak_fraction));
    }
    const auto keramos = own.find(key_of(r));
    const bool has_ratio = r.provider != "keramos" && r.good() && keramos != own.end();
    for (auto& cell : {time_text(r.median_s), time_text(r.min_s),
                       r.measured() ? fmt::format("{:.1f}\u00a0%", 100 * r.iqr_s / r.median_s) : "",
                       has_ratio ? ratio_text(ratio_of(*keramos->second, r)) : "",
                       r.measured() ? std::to_string(r.repetitions) : "",
                       r.measured() ? fmt::format("{:.2g}", r.max_error) : "",
                       r.measured() ? fmt::format("{:.2g}", r.error_bound) : ""}) {
      cells.push_back(cell);
    }
    table.row(cells, wrong || r.failed());
  }
  return section_opening({"results", "All results"}) + table.html();
}

}  // namespace keramos::perf

#include "page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "charts.hpp"
#include "core/json.hpp"
#include "report/result.hpp"
#include "report/svg.hpp"

namespace keramos::perf {
namespace {

constexpr const char* style = R"(
body{font:14px/1.45 system-ui,'DejaVu Sans',sans-serif;color:#222;margin:0 auto;max-width:1240px;padding:24px}
h1{font-size:23px;margin:0}h2{font-size:17px;margin:30px 0 8px;border-bottom:2px solid #c4451c;padding-bottom:3px}
p{margin:6px 0}.sub{color:#666}table{border-collapse:collapse;margin:8px 0}
th,td{padding:3px 10px;text-align:right;border-bottom:1px solid #e4e4e4;vertical-align:top}
th{background:#f6f2ef;position:sticky;top:0}td.t,th.t{text-align:left}td.w{overflow-wrap:anywhere;max-width:560px}
.bad{background:#fbe3dc;font-weight:bold}.good{color:#1a7f37}.charts{display:flex;flex-wrap:wrap;gap:16px}
.wide{overflow-x:auto}svg{max-width:100%;height:auto}@media print{th{position:static}}
)";

// A row of cells; the first `left` are text, `bad` is what must be noticed.
std::string table_row(const std::vector<std::string>& cells, std::size_t left, bool bad = false,
                      const char* tag = "td") {
  std::string out = bad ? "<tr class=\"bad\">" : "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    out += fmt::format("<{0}{1}>{2}</{0}>", tag, i < left ? " class=\"t w\"" : "", escaped(cells[i]));
  }
  return out + "</tr>\n";
}
std::string heading(const std::vector<std::string>& cells, std::size_t left) {
  return table_row(cells, left, false, "th");
}

std::string number(double value) { return value == 0 ? "" : fmt::format("{:.4g}", value); }

std::string verification(const results_file& file) {
  int right = 0, wrong = 0, failed = 0, missing = 0;
  for (const auto& r : file.rows) {
    right += r.good() && r.verified.has_value();
    wrong += r.verified.has_value() && !*r.verified;
    failed += r.failed();
    missing += !r.measured() && !r.failed();
  }
  auto text = fmt::format("<p class=\"{}\">{} results verified, {} wrong, {} failed, {} not measured.</p>\n",
                          wrong + failed > 0 || right == 0 ? "bad" : "good", right, wrong, failed, missing);
  if (!file.complete) {
    text += fmt::format("<p class=\"bad\">This run is incomplete: {}.</p>\n",
                        escaped(file.text("incomplete_because")));
  }
  return text;
}

// Keramos beside each other provider: its rate over theirs, of the problems that both have.
std::string comparison(const std::vector<result_row>& rows) {
  std::map<std::string, const result_row*> own;
  for (const auto& r : rows) {
    if (r.provider == "keramos" && r.good()) own[r.problem()] = &r;
  }
  struct line {
    std::vector<double> ratios;
    std::string worst;
    double least = 0;
  };
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, line> lines;
  for (const auto& r : rows) {
    const auto at = own.find(r.problem());
    if (r.provider == "keramos" || is_ladder_step(r) || !r.good() || at == own.end()) continue;
    const std::pair key{r.provider, r.value("type")};
    auto& l = lines[key];
    if (l.ratios.empty()) order.push_back(key);
    const double ratio = r.median_s / at->second->median_s;
    if (l.ratios.empty() || ratio < l.least) l.least = ratio, l.worst = r.problem();
    l.ratios.push_back(ratio);
  }
  if (order.empty()) return {};
  std::string text =
      "<h2>Keramos beside the others</h2>\n<p>Keramos’ rate over theirs; above 1 Keramos is "
      "faster.</p>\n<table>\n" +
      heading({"baseline", "type", "worst problem", "problems", "geometric mean", "least", "most"}, 3);
  for (const auto& key : order) {
    const auto& l = lines[key];
    text += table_row({key.first, key.second, l.worst, std::to_string(l.ratios.size()),
                       fmt::format("{:.2f}", geometric_mean(l.ratios)), fmt::format("{:.2f}", l.least),
                       fmt::format("{:.2f}", *std::max_element(l.ratios.begin(), l.ratios.end()))},
                      3);
  }
  return text + "</table>\n";
}

std::string providers(const results_file& file) {
  const auto all = file.context.find("providers");
  if (all == file.context.end()) return {};
  auto text =
      "<h2>What was measured</h2>\n<table>\n" + heading({"provider", "version", "library", "threads"}, 3);
  for (const auto& [name, p] : all->items()) {
    const auto libraries = p.value("libraries", std::vector<std::string>());
    const auto threads = p.find("threads");
    const bool has_threads = threads != p.end() && threads->is_number();
    text += table_row(
        {name, p.value("status", "") == "available" ? p.value("version", "") : p.value("reason", ""),
         libraries.empty() ? "" : libraries.front(), has_threads ? threads->dump() : ""},
        3);
  }
  return text + "</table>\n";
}

// Keys and values, but for those in tables of their own.
std::string machine(const nlohmann::ordered_json& context) {
  std::string text = "<h2>Machine, build and command</h2>\n<table>\n";
  for (const auto& [key, value] : context.items()) {
    if (value.is_null() || key == "providers" || key == "ranks") continue;
    text += table_row({key, value.is_string() ? value.get<std::string>() : to_text(value)}, 2);
  }
  return text + "</table>\n";
}

std::string ranks(const results_file& file, const nlohmann::ordered_json& job) {
  const auto all = file.context.find("ranks");
  if (all == file.context.end() || !all->is_array()) return {};
  auto text = std::string("<h2>Ranks</h2>\n<p>Plots and comparisons are of the median rank.</p>\n<table>\n") +
              heading({"rank", "host", "device", "bound", "status", "relative time"}, 5);
  for (std::size_t i = 0; i < all->size(); ++i) {
    const auto& r = (*all)[i];
    double relative = 0;
    bool outlier = false;
    for (const auto& member : job.value("ranks", nlohmann::ordered_json::array())) {
      if (member.value("rank", "") != fmt::format("rank {}", i)) continue;
      relative = member.value("relative_time", 0.0);
      outlier = member.value("outlier", false);
    }
    const auto status = r.value("status", "");
    text += table_row({std::to_string(i), r.value("host", ""), r.value("device", ""), r.value("bound", ""),
                       r.contains("reason") ? status + ": " + r.value("reason", "") : status,
                       relative > 0 ? fmt::format("{:.3f}", relative) : ""},
                      5, outlier || status == "failed");
  }
  return text + "</table>\n";
}

std::string results(const results_file& file) {
  const bool with_rank =
      std::any_of(file.rows.begin(), file.rows.end(), [](const auto& r) { return r.rank >= 0; });
  const auto any = [&](double result_row::*figure) {
    return std::any_of(file.rows.begin(), file.rows.end(), [&](const auto& r) { return r.*figure > 0; });
  };
  const bool with_operations = any(&result_row::gflops), with_bytes = any(&result_row::gbytes_per_s);
  std::vector<std::string> head{"provider", "problem", "verified"};
  if (with_rank) head.push_back("rank");
  if (with_bytes) head.push_back("GB/s");
  if (with_operations) head.insert(head.end(), {"GFLOP/s", "of peak"});
  for (const char* name : {"median s", "best s", "spread", "repetitions", "error", "allowed"}) {
    head.push_back(name);
  }
  std::string text = "<h2>All results</h2>\n<div class=\"wide\"><table>\n" + heading(head, 3);
  for (const auto& r : file.rows) {
    const bool wrong = r.verified.has_value() && !*r.verified;
    std::vector<std::string> cells{r.provider, r.problem(),
                                   wrong                    ? "WRONG"
                                   : r.verified.has_value() ? "yes"
                                   : r.failed()             ? "FAILED"
                                                            : "not measured"};
    if (!r.reason.empty()) cells.back() += ": " + r.reason;
    if (with_rank) cells.push_back(std::to_string(r.rank));
    if (with_bytes) cells.push_back(number(r.gbytes_per_s));
    if (with_operations) {
      cells.push_back(number(r.gflops));
      cells.push_back(r.peak_fraction > 0 ? fmt::format("{:.0f}%", 100 * r.peak_fraction) : "");
    }
    for (auto& cell : {number(r.median_s), number(r.min_s),
                       r.measured() ? fmt::format("{:.1f}%", 100 * r.iqr_s / r.median_s) : "",
                       std::to_string(r.repetitions), r.measured() ? fmt::format("{:.2g}", r.max_error) : "",
                       r.measured() ? fmt::format("{:.2g}", r.error_bound) : ""}) {
      cells.push_back(cell);
    }
    text += table_row(cells, 3, wrong || r.failed());
  }
  return text + "</table></div>\n";
}

// Percent-encoded, so that the page can carry a file to be saved.
std::string data_link(const std::string& content) {
  std::string out = "data:text/csv;charset=utf-8,";
  for (const unsigned char c : content) {
    const bool plain = std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) out += char(c);
    if (!plain) out += fmt::format("%{:02X}", c);
  }
  return out;
}

std::string save_link(const nlohmann::ordered_json& rows) {
  return fmt::format("<p><a download=\"results.csv\" href=\"{}\">Save these rows as CSV</a></p>\n",
                     data_link(to_csv(rows)));
}

std::string opening(const std::string& title, const std::string& subtitle) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" "
      "content=\"width=device-width\"><title>{0}</title><style>{1}</style></head><body>\n"
      "<h1>{0}</h1>\n<p class=\"sub\">{2}</p>\n",
      escaped(title), style, escaped(subtitle));
}

}  // namespace

std::string rows_page(const nlohmann::ordered_json& document, const std::string& rows) {
  std::vector<std::string> columns;
  for (const auto& row : document.at(rows)) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  const bool roofline = document.contains("device");
  const auto& context = document.at(roofline ? "device" : "context");
  const auto name = context.value(roofline ? "name" : "device", "");
  auto page = opening(fmt::format("keramos-perf {} on {}", roofline ? "roofline" : "overhead", name),
                      context.value("date", ""));
  page += "<h2>All results</h2>\n<div class=\"wide\"><table>\n" + heading(columns, 1);
  for (const auto& row : document.at(rows)) {
    std::vector<std::string> cells;
    for (const auto& key : columns) {
      const auto value = row.value(key, nlohmann::ordered_json());
      cells.push_back(value.is_null()           ? ""
                      : value.is_number_float() ? number(value.get<double>())
                      : value.is_string()       ? value.get<std::string>()
                                                : to_text(value));
    }
    page += table_row(cells, 1);
  }
  return page + "</table></div>\n" + machine(context) + save_link(document.at(rows)) + "</body></html>\n";
}

std::string report_page(const results_file& file, const nlohmann::ordered_json& document) {
  const auto rows = median_ranks(file.rows);
  const auto title = fmt::format("{} on {}", file.text("tool").empty() ? "keramos-perf" : file.text("tool"),
                                 file.platform());
  std::string page =
      opening(title, fmt::format("{} · {} · Keramos {}, revision {} · Kokkos {} · {}", file.text("date"),
                                 file.text("host"), file.text("keramos_version"), file.text("git_revision"),
                                 file.text("kokkos_version"), file.text("compiler")));
  page += verification(file) + comparison(rows) +
          ranks(file, document.value("job", nlohmann::ordered_json::object()));
  page += "<h2>Plots</h2>\n<div class=\"charts\">\n";
  for (const auto& chart : charts_of(file, rows)) page += chart;
  page += "</div>\n" + providers(file) + machine(file.context) + results(file);
  page += save_link(document.at("results"));
  page +=
      "<p class=\"sub\">Rates are of median times over the repetitions; spread is the interquartile range "
      "over the "
      "median, and the bands of the plots are as wide. Verified: C was compared with a reference in a wider "
      "type by "
      "the forward error bound, element by element or, for large problems, in 64 full rows and by Freivalds’ "
      "check of "
      "the rest; “error” and “allowed” are of the element nearest to its bound.</p>\n</body></html>\n";
  return page;
}

}  // namespace keramos::perf

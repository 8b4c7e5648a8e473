#include "page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include "charts.hpp"
#include "html.hpp"
#include "report/result.hpp"
#include "report/units.hpp"
#include "summary.hpp"
#include "tables.hpp"

namespace keramos::perf {
namespace {

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
  return fmt::format(
      "<p class=\"save\"><a download=\"results.csv\" href=\"{}\">Save these rows as CSV</a></p>\n",
      data_link(to_csv(rows)));
}

constexpr const char* how_to_read =
    "Rates are of median times over the repetitions; spread is the interquartile range over the median, and "
    "the "
    "bands of the plots are as wide. Verified: C was compared with a reference in a wider type by the "
    "forward error "
    "bound, element by element or, for large problems, in 64 full rows and by Freivalds’ check of the rest; "
    "“error” "
    "and “allowed” are of the element nearest to its bound.";

// The time of a figure whose interquartile range this is: keramos_s of keramos_iqr_s; "" of any other key.
std::string time_of_spread(const std::string& key) {
  constexpr std::string_view end = "_iqr_s";
  return key.ends_with(end) ? key.substr(0, key.size() - end.size()) + "_s" : std::string();
}

std::string plots(const std::vector<std::string>& charts) {
  if (charts.empty()) return {};
  auto text =
      section_opening({"plots", "Plots"}) +
      "<p class=\"sub\">Curves are of squares, on a logarithmic axis on which close sizes are spread apart. "
      "Bands, "
      "and lines on bars, are the interquartile range; a dashed line across is the arithmetic peak.</p>\n"
      "<div class=\"charts\">\n";
  for (const auto& chart : charts) text += chart;
  return text + "</div>\n";
}

std::string cell_of(const nlohmann::ordered_json& row, const std::string& key) {
  const auto at = row.find(key);
  if (at == row.end()) return {};
  const auto time = row.find(time_of_spread(key));
  if (time != row.end() && time->is_number() && at->is_number() && time->get<double>() != 0)
    return percent_text(at->get<double>() / std::abs(time->get<double>()));
  return plain_text(key, *at, row.contains("type") ? plain_text("type", row["type"]) : "");
}

}  // namespace

std::string rows_page(const nlohmann::ordered_json& document, const std::string& rows) {
  std::vector<std::string> columns, head;
  for (const auto& row : document.at(rows)) {
    for (const auto& [key, value] : row.items()) {
      if (std::find(columns.begin(), columns.end(), key) == columns.end()) columns.push_back(key);
    }
  }
  std::size_t texts = 0;  // how many columns are text
  for (const auto& key : columns) {
    if (texts == head.size() && document[rows][0].contains(key) && document[rows][0][key].is_string())
      ++texts;
    head.push_back(time_of_spread(key).empty() ? named_figure(key, 0).name : "spread");
  }
  const bool roofline = document.contains("device");
  const auto& context = document.at(roofline ? "device" : "context");
  const auto name = context.value(roofline ? "name" : "device", "");
  auto page = page_opening(fmt::format("keramos-perf {} on {}", roofline ? "roofline" : "overhead", name),
                           context.value("date", ""), {{"results", "All results"}, {"machine", "Machine"}});
  page += section_opening({"results", "All results"});
  html_table table("All results. Spread: the interquartile range over the median.", head, texts);
  for (const auto& row : document.at(rows)) {
    std::vector<std::string> cells;
    for (const auto& key : columns) cells.push_back(cell_of(row, key));
    table.row(cells);
  }
  return page + table.html() + machine(context) + save_link(document.at(rows)) + page_end({});
}

std::string report_page(const results_file& file, const nlohmann::ordered_json& document) {
  const auto rows = median_ranks(file.rows);
  const auto job = document.value("job", nlohmann::ordered_json::object());
  const std::vector<std::pair<page_section, std::string>> parts{
      {{"comparison", "Comparison"}, comparison(rows)},   {{"ranks", "Ranks"}, ranks(file, job)},
      {{"plots", "Plots"}, plots(charts_of(file, rows))}, {{"providers", "Libraries"}, providers(file)},
      {{"results", "All results"}, results(file)},        {{"machine", "Machine"}, machine(file.context)}};
  std::vector<page_section> sections;
  for (const auto& [section, content] : parts) {
    if (!content.empty()) sections.push_back(section);
  }
  const auto title = fmt::format("{} on {}", file.text("tool").empty() ? "keramos-perf" : file.text("tool"),
                                 file.platform());
  auto page =
      page_opening(title,
                   fmt::format("{} · {} · Keramos {}, revision {} · Kokkos {} · {}", file.text("date"),
                               file.text("host"), file.text("keramos_version"), file.text("git_revision"),
                               file.text("kokkos_version"), file.text("compiler")),
                   sections) +
      verification(file, job);
  for (const auto& [section, content] : parts) page += content;
  return page + save_link(document.at("results")) + page_end(how_to_read);
}

}  // namespace keramos::perf

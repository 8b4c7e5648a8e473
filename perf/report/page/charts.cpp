#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "html.hpp"
#include "report/svg.hpp"
#include "report/units.hpp"

namespace keramos::perf {
namespace {

bool is_square(const result_row& r) { return r.m > 0 && r.m == r.n && r.n == r.k; }

// Rates in the chart's unit at the ends of the interquartile range around the median, never beyond the best.
chart_point point_of(const result_row& r, double x, double scale) {
  const auto rate = [&](double seconds) {
    const double at = scale * r.rate() * r.median_s / seconds;
    return std::isfinite(at) ? at : scale * r.rate();
  };
  return {x, rate(r.median_s), rate(r.median_s + r.iqr_s / 2),
          rate(std::max(r.min_s > 0 ? r.min_s : r.median_s, r.median_s - r.iqr_s / 2)),
          !r.verified.value_or(true)};
}

// What one chart has in common.
struct panel {
  std::vector<const result_row*> rows;
  std::string title, type;
  bool squares = false, steps = false;
  double peak = 0;  // GFLOP/s; 0: none
  std::string peak_kind;
};

// The unit of a chart's axis: a rate in G... times the scale.
struct axis_unit {
  double scale;
  std::string name, what;
};
axis_unit unit_of(const panel& p) {
  const bool bytes = p.rows.front()->gbytes_per_s > 0;
  double top = p.peak;
  for (const auto* r : p.rows) top = std::max(top, r->rate());
  const auto what = bytes ? "B/s" : operations_unit(p.type);
  return {top >= 1000 ? 1e-3 : top >= 1 ? 1 : 1e3, (top >= 1000 ? "T" : top >= 1 ? "G" : "M") + what, what};
}

std::vector<chart_series> series_of(const panel& p, double scale,
                                    const std::function<double(const result_row&)>& x) {
  std::vector<std::string> providers;
  for (const auto* r : p.rows) add_unique(providers, r->provider);
  const auto styles = styles_of(providers);
  std::vector<chart_series> all;
  for (std::size_t i = 0; i < providers.size(); ++i) {
    chart_series s{providers[i], styles[i], {}, providers[i] == "keramos"};
    for (const auto* r : p.rows) {
      if (r->provider == providers[i]) s.points.push_back(point_of(*r, x(*r), scale));
    }
    std::sort(s.points.begin(), s.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    all.push_back(std::move(s));
  }
  return all;
}

std::string peak_label(const panel& p, const axis_unit& u) {
  return fmt::format("peak {}\u00a0{} ({})", three_digits(p.peak * u.scale), u.name, p.peak_kind);
}

// What a chart says to who cannot see it.
std::string description_of(const panel& p, const axis_unit& u, const std::vector<chart_series>& series,
                           const std::function<std::string(double)>& name_of_x) {
  auto text = fmt::format("{}: {}.", p.title, u.name);
  for (const auto& s : series) {
    const auto [least, most] = std::minmax_element(s.points.begin(), s.points.end(),
                                                   [](const auto& a, const auto& b) { return a.y < b.y; });
    text += fmt::format(" {} from {} at {} to {} at {}.", s.label, three_digits(least->y),
                        name_of_x(least->x), three_digits(most->y), name_of_x(most->x));
  }
  return text + " All numbers are in the table below the chart.";
}

std::string cell_of(const chart_point& p, const axis_unit& u) {
  auto text = rate_text(p.y / u.scale, u.what);
  if (p.high > p.low) text += " ± " + percent_text((p.high - p.low) / 2 / p.y);
  return p.marked_wrong ? text + " ✗ wrong" : text;
}

// The same as numbers: a row for each x, a column for each series.
std::string numbers_of(const panel& p, const axis_unit& u, const std::string& head,
                       const std::vector<chart_series>& series,
                       const std::function<std::string(double)>& name_of_x) {
  std::vector<std::string> heads{head};
  std::map<double, std::vector<std::string>> rows;
  for (std::size_t i = 0; i < series.size(); ++i) {
    heads.push_back(series[i].label);
    for (const auto& point : series[i].points) {
      auto& cells = rows[point.x];
      cells.resize(series.size() + 1, "–");
      cells[i + 1] = cell_of(point, u);
    }
  }
  html_table table(p.title + ": medians, ± half the interquartile range", heads, 1);
  for (auto& [x, cells] : rows) {
    cells[0] = name_of_x(x);
    table.row(cells);
  }
  return table.html();
}

template <class Chart>
std::string figure_of(const std::string& title, const std::string& note, const Chart& chart,
                      const std::string& numbers) {
  return fmt::format(
      "<figure>\n<figcaption><h3>{}</h3>{}</figcaption>\n{}{}<details><summary>Numbers of this "
      "chart</summary>\n{}</details>\n</figure>\n",
      escaped(title), note.empty() ? "" : "<p>" + escaped(note) + "</p>", chart.svg(chart_size::wide),
      chart.svg(chart_size::narrow), numbers);
}

std::string curves(const panel& p) {
  const auto u = unit_of(p);
  const auto name_of_x = [](double x) { return fmt::format("{:.0f}", x); };
  line_chart chart;
  chart.x_label = "m = n = k";
  chart.y_label = p.rows.front()->gbytes_per_s > 0 ? u.name + ", read and written once" : u.name;
  chart.log_x = true;
  chart.series = series_of(p, u.scale, [](const result_row& r) { return double(r.m); });
  chart.description = description_of(p, u, chart.series, name_of_x);
  if (p.peak > 0) chart.lines = {{p.peak * u.scale, peak_label(p, u)}};
  return figure_of(p.title, {}, chart, numbers_of(p, u, "m = n = k", chart.series, name_of_x));
}

// Of products the extents; of others the kernel and its shape.
std::string shape_of(const result_row& r) {
  if (r.m > 0) return fmt::format("{} × {} × {}", r.m, r.n, r.k);
  return r.value("kernel") + ' ' + r.value("shape");
}

std::string bars(const panel& p) {
  const auto u = unit_of(p);
  bar_chart chart;
  chart.x_label = p.rows.front()->gbytes_per_s > 0 ? u.name + ", read and written once" : u.name;
  for (const auto* r : p.rows) add_unique(chart.groups, shape_of(*r));
  chart.series = series_of(p, u.scale, [&](const result_row& r) {
    return double(std::find(chart.groups.begin(), chart.groups.end(), shape_of(r)) - chart.groups.begin());
  });
  const auto name_of_x = [&](double x) { return chart.groups[std::size_t(x)]; };
  chart.description = description_of(p, u, chart.series, name_of_x);
  for (auto& s : chart.series) {
    for (auto& point : s.points) point.note = s.label + ' ' + three_digits(point.y);
  }
  if (p.peak > 0) chart.peak = {p.peak * u.scale, peak_label(p, u)};
  const auto head = p.rows.front()->m > 0 ? "m × n × k" : "kernel";
  return figure_of(p.title, {}, chart, numbers_of(p, u, head, chart.series, name_of_x));
}

// A bar for each step, in the file's order; the gain beside it.
std::string step_bars(const panel& p) {
  const auto u = unit_of(p);
  constexpr int tile_red = 0, green = 3, amber = 5, gray = 7;  // of series_styles
  bar_chart chart;
  chart.x_label = u.name + " (× over the row above)";
  chart_series all{"", 0, {}};
  for (const auto* r : p.rows) {
    auto point = point_of(*r, double(all.points.size()), u.scale);
    point.style = r->provider == "keramos" ? tile_red
                  : !is_ladder_step(*r)    ? green
                  : r->step_number == 0    ? gray
                                           : amber;
    point.note = three_digits(point.y);
    if (r->gain > 0) point.note += fmt::format("  ×{:.2f}", r->gain);
    all.points.push_back(std::move(point));
    auto name = r->step;
    std::replace(name.begin(), name.end(), '_', ' ');
    chart.groups.push_back(r->step_number > 0 ? fmt::format("{} {}", r->step_number, name)
                                              : '(' + name + ')');
  }
  chart.series.push_back(std::move(all));
  const auto name_of_x = [&](double x) { return chart.groups[std::size_t(x)]; };
  auto series = chart.series;
  series.front().label = "rate";
  chart.description = description_of(p, u, series, name_of_x);
  return figure_of(p.title, "In parentheses: variants that show what goes wrong.", chart,
                   numbers_of(p, u, "step", series, name_of_x));
}

// Everything but the extents: type, op, layout and what else the rows may have. The extents too for a
// ladder, whose steps have different ops.
std::string title_of(const result_row& r) {
  if (!r.step.empty()) {
    return fmt::format("{}, m × n × k = {} × {} × {}, tile width {}", r.value("type"), r.m, r.n, r.k,
                       r.tile_width);
  }
  auto title = r.value("type");
  if (r.m > 0) title += ' ' + r.value("op_a") + r.value("op_b") + ' ' + r.value("layout");
  for (const auto& [key, value] : r.keys) {
    constexpr const char* said[] = {"type", "op_a", "op_b",  "layout", "m",
                                    "n",    "k",    "batch", "kernel", "shape"};
    if (std::find(std::begin(said), std::end(said), key) == std::end(said))
      title += fmt::format(" {} {}", key, value);
  }
  return title;
}

}  // namespace

std::vector<result_row> median_ranks(const std::vector<result_row>& rows) {
  std::vector<result_row> kept;
  std::map<std::string, std::vector<const result_row*>> of_case;
  std::vector<std::string> order;
  for (const auto& r : rows) {
    const auto key = r.provider + '|' + r.problem();
    if (r.rank < 0 || !r.measured()) {
      kept.push_back(r);
    } else {
      if (of_case[key].empty()) order.push_back(key);
      of_case[key].push_back(&r);
    }
  }
  for (const auto& key : order) {
    auto& ranks = of_case[key];
    std::sort(ranks.begin(), ranks.end(),
              [](const auto* a, const auto* b) { return a->median_s < b->median_s; });
    kept.push_back(*ranks[(ranks.size() - 1) / 2]);
  }
  return kept;
}

bool is_ladder_step(const result_row& r) { return r.provider.starts_with("ladder-"); }

std::vector<std::string> charts_of(const results_file& file, const std::vector<result_row>& rows) {
  std::vector<panel> panels;  // squares before others, else in the file's order
  for (const bool squares : {true, false}) {
    for (const auto& r : rows) {
      if (!r.measured() || r.rate() <= 0 || is_square(r) != squares) continue;
      const auto title = title_of(r);
      auto at = std::find_if(panels.begin(), panels.end(),
                             [&](const panel& p) { return p.squares == squares && p.title == title; });
      if (at == panels.end())
        at = panels.insert(at, {{}, title, r.value("type"), squares, !r.step.empty(), 0, {}});
      at->rows.push_back(&r);
    }
  }
  std::vector<std::string> charts;
  const auto peaks = file.context.value("peak_gflops", nlohmann::ordered_json::object());
  for (auto& p : panels) {
    const bool has_peak = peaks.contains(p.type) && p.rows.front()->gbytes_per_s <= 0 && !p.steps;
    if (has_peak) p.peak = peaks[p.type].get<double>();
    p.peak_kind = file.text("peak_kind");
    charts.push_back(p.steps ? step_bars(p) : p.squares ? curves(p) : bars(p));
  }
  return charts;
}

}  // namespace keramos::perf

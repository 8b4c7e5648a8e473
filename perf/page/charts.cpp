#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/problem.hpp"
#include "report/svg.hpp"

namespace keramos::perf {
namespace {

void add_unique(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

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
};

struct unit {
  double scale;
  std::string name;
};
unit unit_of(const panel& p, double peak) {
  if (p.rows.front()->gbytes_per_s > 0) return {1, "GB/s, read and written once"};
  double top = peak;
  for (const auto* r : p.rows) top = std::max(top, r->gflops);
  const std::string operations = is_integer(p.type) ? "OP/s" : "FLOP/s";
  return top >= 5000 ? unit{1e-3, "T" + operations} : unit{1, "G" + operations};
}

std::vector<chart_series> series_of(const panel& p, double scale,
                                    const std::function<double(const result_row&)>& x) {
  std::vector<std::string> providers;
  for (const auto* r : p.rows) add_unique(providers, r->provider);
  std::vector<chart_series> all;
  for (std::size_t i = 0; i < providers.size(); ++i) {
    chart_series s{providers[i], color_of_provider(providers[i], i), {}, false, providers[i] == "keramos"};
    for (const auto* r : p.rows) {
      if (r->provider == providers[i]) s.points.push_back(point_of(*r, x(*r), scale));
    }
    std::sort(s.points.begin(), s.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    all.push_back(std::move(s));
  }
  return all;
}

std::string curves(const panel& p, double peak, const std::string& peak_kind) {
  const auto u = unit_of(p, peak);
  line_chart chart;
  chart.title = p.title;
  chart.x_label = "m = n = k";
  chart.y_label = u.name;
  chart.log_x = true;
  chart.series = series_of(p, u.scale, [](const result_row& r) { return double(r.m); });
  if (peak > 0)
    chart.lines = {{peak * u.scale, fmt::format("peak {:.3g} {} ({})", peak * u.scale, u.name, peak_kind)}};
  return chart.svg();
}

// Of products the extents; of others the kernel and its shape.
std::string shape_of(const result_row& r) {
  if (r.m > 0) return fmt::format("{} × {} × {}", r.m, r.n, r.k);
  return r.value("kernel") + ' ' + r.value("shape");
}

std::string bars(const panel& p, double peak, const std::string& peak_kind) {
  const auto u = unit_of(p, peak);
  bar_chart chart;
  chart.title = p.title;
  chart.x_label = u.name;
  for (const auto* r : p.rows) add_unique(chart.groups, shape_of(*r));
  chart.series = series_of(p, u.scale, [&](const result_row& r) {
    return double(std::find(chart.groups.begin(), chart.groups.end(), shape_of(r)) - chart.groups.begin());
  });
  if (peak > 0) chart.peak = {peak * u.scale, fmt::format("peak {:.3g} ({})", peak * u.scale, peak_kind)};
  return chart.svg();
}

// A bar for each step, in the file's order; the gain beside it.
std::string step_bars(const panel& p) {
  const auto u = unit_of(p, 0);
  bar_chart chart;
  chart.title = p.title;
  chart.x_label = u.name + "   (× over the row above)";
  chart_series all{"", color_of_provider("keramos", 0), {}};
  for (const auto* r : p.rows) {
    auto point = point_of(*r, double(all.points.size()), u.scale);
    if (r->step_number == 0) point.color = "#e8b9a8";  // paler
    if (r->provider == "keramos") point.color = "#8c2d0f";
    if (r->provider != "keramos" && !is_ladder_step(*r)) point.color = "#009e73";
    point.note = fmt::format("{:.{}f}", point.y, point.y >= 100 ? 0 : point.y >= 10 ? 1 : 2);
    if (r->gain > 0) point.note += fmt::format("  ×{:.2f}", r->gain);
    all.points.push_back(std::move(point));
    auto name = r->step;
    std::replace(name.begin(), name.end(), '_', ' ');
    chart.groups.push_back(r->step_number > 0 ? fmt::format("{} {}", r->step_number, name)
                                              : '(' + name + ')');
  }
  chart.series.push_back(std::move(all));
  return chart.svg();
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
      if (at == panels.end()) at = panels.insert(at, {{}, title, r.value("type"), squares, !r.step.empty()});
      at->rows.push_back(&r);
    }
  }
  std::vector<std::string> charts;
  const auto peaks = file.context.value("peak_gflops", nlohmann::ordered_json::object());
  for (const auto& p : panels) {
    const bool has_peak = peaks.contains(p.type) && p.rows.front()->gbytes_per_s <= 0;
    const double peak = has_peak ? peaks[p.type].get<double>() : 0;
    const auto kind = file.text("peak_kind");
    charts.push_back(p.steps ? step_bars(p) : p.squares ? curves(p, peak, kind) : bars(p, peak, kind));
  }
  return charts;
}

}  // namespace keramos::perf

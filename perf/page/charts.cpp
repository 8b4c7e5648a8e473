#include "charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "report/svg.hpp"

namespace keramos::perf {
namespace {

void add_unique(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

bool is_square(const result_row& r) { return r.m == r.n && r.n == r.k; }

// Rates in the chart's unit at the ends of the interquartile range around the median, never beyond the best.
chart_point point_of(const result_row& r, double x, double scale) {
  const auto rate = [&](double seconds) { return scale * r.gflops * r.median_s / seconds; };
  return {x, rate(r.median_s), rate(r.median_s + r.iqr_s / 2),
          rate(std::max(r.min_s > 0 ? r.min_s : r.median_s, r.median_s - r.iqr_s / 2)),
          !r.verified.value_or(true)};
}

// What one chart has in common.
struct panel {
  std::vector<const result_row*> rows;
  std::string title, type;
};

struct unit {
  double scale;
  std::string name;
};
unit unit_of(const panel& p, double peak) {
  double top = peak;
  for (const auto* r : p.rows) top = std::max(top, r->gflops);
  const std::string operations = p.type == "i32" ? "OP/s" : "FLOP/s";
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

std::string bars(const panel& p, double peak, const std::string& peak_kind) {
  const auto u = unit_of(p, peak);
  bar_chart chart;
  chart.title = p.title;
  chart.x_label = u.name;
  const auto shape = [](const result_row& r) { return fmt::format("{} × {} × {}", r.m, r.n, r.k); };
  for (const auto* r : p.rows) add_unique(chart.groups, shape(*r));
  chart.series = series_of(p, u.scale, [&](const result_row& r) {
    return double(std::find(chart.groups.begin(), chart.groups.end(), shape(r)) - chart.groups.begin());
  });
  if (peak > 0) chart.peak = {peak * u.scale, fmt::format("peak {:.3g} ({})", peak * u.scale, peak_kind)};
  return chart.svg();
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

std::vector<std::string> charts_of(const results_file& file, const std::vector<result_row>& rows) {
  std::vector<std::pair<std::string, panel>> panels;  // squares before others, else in the file's order
  for (const bool squares : {true, false}) {
    for (const auto& r : rows) {
      if (!r.measured() || r.m <= 0 || r.gflops <= 0 || is_square(r) != squares) continue;
      // Everything but the extents: type, op, layout and what else the rows may have.
      auto title = r.value("type") + ' ' + r.value("op_a") + r.value("op_b") + ' ' + r.value("layout");
      for (const auto& [key, value] : r.keys) {
        constexpr const char* said[] = {"type", "op_a", "op_b", "layout", "m", "n", "k"};
        if (std::find(std::begin(said), std::end(said), key) == std::end(said))
          title += fmt::format(" {} {}", key, value);
      }
      const auto key = fmt::format("{}|{}", squares, title);
      auto at = std::find_if(panels.begin(), panels.end(), [&](const auto& p) { return p.first == key; });
      if (at == panels.end()) at = panels.insert(at, {key, {{}, title, r.value("type")}});
      at->second.rows.push_back(&r);
    }
  }
  std::vector<std::string> charts;
  const auto peaks = file.context.value("peak_gflops", nlohmann::ordered_json::object());
  for (const auto& [key, p] : panels) {
    const double peak = peaks.contains(p.type) ? peaks[p.type].get<double>() : 0;
    const auto kind = file.text("peak_kind");
    charts.push_back(is_square(*p.rows.front()) ? curves(p, peak, kind) : bars(p, peak, kind));
  }
  return charts;
}

}  // namespace keramos::perf

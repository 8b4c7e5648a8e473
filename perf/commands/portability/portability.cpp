#include "portability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "measure/core/problem.hpp"
#include "report/svg.hpp"

namespace keramos::perf {
namespace {

// The fastest good row of each provider, by problem.
using provider_rows = std::map<std::string, const result_row*>;
using platform_rows = std::map<std::string, provider_rows>;

double efficiency_of(const result_row& row, const provider_rows& all, efficiency_kind kind) {
  if (kind == efficiency_kind::architectural) return row.peak_fraction;
  double best = row.median_s;
  for (const auto& [provider, other] : all) best = std::min(best, other->median_s);
  return best / row.median_s;
}

}  // namespace

double pennycook(const std::vector<double>& efficiencies) {
  double sum = 0;
  for (const double e : efficiencies) {
    if (e <= 0) return 0;
    sum += 1 / e;
  }
  return efficiencies.empty() ? 0 : double(efficiencies.size()) / sum;
}

portability_result portability(const std::vector<results_file>& files, efficiency_kind kind) {
  portability_result result;
  std::map<std::string, platform_rows> rows;
  std::vector<std::string> providers, problems;
  const auto names = platform_names(files);
  for (std::size_t f = 0; f < files.size(); ++f) {
    const auto& file = files[f];
    const auto& platform = names[f];
    add_unique(result.platforms, platform);
    for (const auto& row : file.rows) {
      add_unique(providers, row.provider);
      if (!row.good()) continue;
      add_unique(problems, row.problem());
      auto& best = rows[platform][row.problem()][row.provider];
      if (best == nullptr || row.median_s < best->median_s) best = &row;
      if (kind == efficiency_kind::architectural && row.peak_fraction <= 0) {
        throw usage_error(fmt::format("{}: the peak for {} is not known: write --efficiency application",
                                      file.path, row.problem()));
      }
    }
  }
  if (result.platforms.size() < 2) {
    throw usage_error(
        "all files are of one platform: write results of at least two devices, backends or numbers "
        "of threads");
  }
  for (const auto& problem : problems) {
    if (std::all_of(result.platforms.begin(), result.platforms.end(),
                    [&](const std::string& platform) { return rows[platform].contains(problem); })) {
      result.problems.push_back(problem);
    }
  }
  if (result.problems.empty()) {
    throw usage_error(
        "no problem was measured on all platforms: write files made with the same --type, --op and "
        "--size");
  }
  for (const auto& provider : providers) {
    application_portability a{provider, {}, 0, {}};
    std::map<std::string, std::vector<double>> of_problem;
    std::vector<double> of_platform;
    for (const auto& platform : result.platforms) {
      std::vector<double> all;
      for (const auto& problem : result.problems) {
        const auto& here = rows[platform][problem];
        const auto at = here.find(provider);
        of_problem[problem].push_back(at == here.end() ? 0 : efficiency_of(*at->second, here, kind));
        all.push_back(of_problem[problem].back());
      }
      const bool runs = std::all_of(all.begin(), all.end(), [](double e) { return e > 0; });
      of_platform.push_back(a.efficiency[platform] = runs ? geometric_mean(all) : 0);
    }
    for (const auto& [problem, efficiencies] : of_problem)
      a.metric_of_problem[problem] = pennycook(efficiencies);
    a.metric = pennycook(of_platform);
    result.applications.push_back(std::move(a));
  }
  return result;
}

std::string cascade_plot(const portability_result& result, efficiency_kind kind, std::size_t least) {
  line_chart chart;
  chart.title = kind == efficiency_kind::application
                    ? "Cascade: application efficiency, Pennycook's metric (dotted)"
                    : "Cascade: architectural efficiency, Pennycook's metric (dotted)";
  chart.x_label = "number of platforms, each application's best first";
  chart.y_label = "efficiency";
  chart.y_max = 1.05;
  std::vector<std::string> names;
  for (const auto& a : result.applications) names.push_back(a.provider);
  const auto styles = styles_of(names);
  for (std::size_t index = 0; index < result.applications.size(); ++index) {
    const auto& a = result.applications[index];
    std::vector<double> sorted;
    for (const auto& [platform, e] : a.efficiency) sorted.push_back(e);
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    if (sorted.size() < least || sorted[least - 1] <= 0) continue;
    chart_series line{a.provider, styles[index], {}, a.provider == "keramos"};
    chart_series metric{"", styles[index], {}, false, true};
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      line.points.push_back({double(i + 1), sorted[i]});
      metric.points.push_back({double(i + 1), pennycook({sorted.begin(), sorted.begin() + long(i) + 1})});
    }
    chart.series.push_back(std::move(metric));
    chart.series.push_back(std::move(line));
  }
  return chart.svg();
}

}  // namespace keramos::perf

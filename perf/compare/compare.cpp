#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/statistics.hpp"

namespace keramos::perf {
namespace {

std::string identity(const result_row& row) {
  std::string id = fmt::format("{}|{}", row.provider, row.rank);
  for (const auto& [key, value] : row.keys) id += fmt::format("|{}={}", key, value);
  return id;
}

std::string group_of(const result_row& row) {
  return fmt::format("{} {} {}", row.provider, row.value("type"), kind_of_shape(row));
}

// The typical notch of each group. The spread of a few repetitions is itself a noisy figure: a case
// whose own happens to be small is taken to be as noisy as its group.
std::map<std::string, double> typical_notches(const std::vector<result_row>& rows) {
  std::map<std::string, std::vector<double>> all;
  for (const auto& row : rows) {
    if (row.good()) all[group_of(row)].push_back(relative_notch(row));
  }
  std::map<std::string, double> typical;
  for (auto& [group, notches] : all) {
    std::sort(notches.begin(), notches.end());
    typical[group] = quantile(notches, 0.5);
  }
  return typical;
}

struct typical_noise {
  std::map<std::string, double> before, after;
};

case_change change_of(const result_row& before, const result_row* after, const typical_noise& typical,
                      const compare_limits& limits) {
  case_change c{before.provider, before.problem(), group_of(before), before.median_s};
  if (before.rank >= 0) c.problem += fmt::format(" rank {}", before.rank);
  if (after == nullptr) {
    c.verdict = change::gone;
    return c;
  }
  c.new_s = after->median_s;
  if (!after->good()) {
    c.verdict = change::broken;
    return c;
  }
  const double old_notch = std::max(relative_notch(before), typical.before.at(c.group));
  const double new_notch = std::max(relative_notch(*after), typical.after.at(c.group));
  c.ratio = after->median_s / before.median_s;
  c.noise = c.ratio * (old_notch + new_notch);
  c.verdict = judge(c.ratio, old_notch, new_notch, limits);
  return c;
}

std::vector<class_summary> summarize(const std::vector<case_change>& cases) {
  std::vector<class_summary> classes;
  std::map<std::string, std::vector<double>> ratios;
  for (const auto& c : cases) {
    if (c.ratio <= 0) continue;
    auto at = std::find_if(classes.begin(), classes.end(), [&](const auto& s) { return s.group == c.group; });
    if (at == classes.end()) at = classes.insert(at, {c.group, 0, 0, 0, {}});
    ++at->cases;
    if (c.ratio > at->worst) at->worst = c.ratio, at->worst_problem = c.problem;
    ratios[c.group].push_back(c.ratio);
  }
  for (auto& s : classes) s.mean = geometric_mean(ratios[s.group]);
  return classes;
}

}  // namespace

double relative_notch(const result_row& row) {
  if (row.repetitions < 1) return 0;
  return 1.57 * row.iqr_s / (row.median_s * std::sqrt(double(row.repetitions)));
}

change judge(double ratio, double old_notch, double new_notch, const compare_limits& limits) {
  const bool slower = ratio >= 1;
  const bool beyond = slower ? ratio >= limits.warn : ratio <= 1 / limits.warn;
  if (!beyond) return change::none;
  // Times in units of the old median: 1 +- old_notch and ratio (1 +- new_notch).
  const bool apart =
      slower ? ratio * (1 - new_notch) > 1 + old_notch : ratio * (1 + new_notch) < 1 - old_notch;
  if (!apart) return change::noise;
  if (!slower) return change::faster;
  return ratio >= limits.fail ? change::much_slower : change::slower;
}

std::string kind_of_shape(const result_row& r) {
  if (r.m <= 0 || r.n <= 0 || r.k <= 0) return {};
  if (double(r.m) * double(r.n) * double(r.k) <= 64.0 * 64 * 64) return "small";
  if (r.k >= 8 * std::max(r.m, r.n)) return "deep";
  if (8 * r.k <= std::min(r.m, r.n)) return "flat";
  return 8 * std::min(r.m, r.n) <= std::max(r.m, r.n) ? "skinny" : "square";
}

comparison compare(const std::vector<result_row>& before, const std::vector<result_row>& after,
                   const compare_limits& limits) {
  std::map<std::string, const result_row*> found;
  for (const auto& row : after) found[identity(row)] = &row;
  const typical_noise typical{typical_notches(before), typical_notches(after)};
  comparison result;
  std::size_t matched = 0;
  for (const auto& row : before) {
    const auto at = found.find(identity(row));
    matched += at != found.end();
    if (!row.good()) continue;  // there is nothing to compare with
    result.cases.push_back(change_of(row, at == found.end() ? nullptr : at->second, typical, limits));
  }
  result.added = int(found.size() - matched);
  result.classes = summarize(result.cases);
  return result;
}

std::vector<std::string> differences(const results_file& before, const results_file& after,
                                     const std::vector<std::string>& providers, bool devices_may_differ,
                                     bool baselines_may_differ) {
  std::vector<std::string> found;
  if (!devices_may_differ && before.platform() != after.platform()) {
    found.push_back(
        fmt::format("different devices, {} and {}: write --different-devices to compare all the same",
                    before.platform(), after.platform()));
  } else if (const auto what = device_difference(before.context, after.context);
             !devices_may_differ && !what.empty()) {
    found.push_back(fmt::format(
        "different devices, both called {}: {}: write --different-devices to compare all the same",
        before.platform(), what));
  }
  for (const auto& name : providers) {
    if (baselines_may_differ || name.starts_with("keramos")) continue;  // its versions are the point
    const auto version = [&](const results_file& file) {
      const auto at = file.context.find("providers");
      if (at == file.context.end() || !at->contains(name)) return std::string();
      return at->at(name).value("version", "");
    };
    const bool in_both = std::any_of(before.rows.begin(), before.rows.end(),
                                     [&](const result_row& r) { return r.provider == name; });
    if (in_both && version(before) != version(after)) {
      found.push_back(fmt::format(
          "different baselines, {} is '{}' and '{}': write --different-baselines to compare all the same",
          name, version(before), version(after)));
    }
  }
  return found;
}

}  // namespace keramos::perf

#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "judge.hpp"

namespace keramos::perf {
namespace {

std::string problem_identity(const result_row& row) {
  auto id = std::to_string(row.rank);
  for (const auto& [key, value] : row.keys) id += fmt::format("|{}={}", key, value);
  return id + row.extents;
}

std::string group_of(const result_row& row) {
  return fmt::format("{} {} {}", row.provider, row.value("type"), kind_of_shape(row));
}

// A case that was measured in both files.
struct matched_case {
  std::size_t index = 0;  // of comparison::cases
  relative_times before, after;
  change_estimate within;
};

using row_index = std::map<std::string, std::vector<const result_row*>>;

// Rows of the same problem and rank, of all providers.
row_index rows_by_problem(const std::vector<result_row>& rows) {
  row_index of;
  for (const auto& row : rows) of[problem_identity(row)].push_back(&row);
  return of;
}

const result_row* find_row(const row_index& rows, const std::string& problem, const std::string& provider) {
  const auto at = rows.find(problem);
  if (at == rows.end()) return nullptr;
  for (const auto* row : at->second) {
    if (row->provider == provider) return row;
  }
  return nullptr;
}

double mean_of(const std::vector<matched_case>& all) {
  double sum = 0;
  for (const auto& m : all) sum += m.within.change;
  return std::exp(sum / double(all.size()));
}

// How much the mean of these cases is off by chance. Each is a block; of fewer than 5 the rounds are cut up.
double chance_of_mean(const std::vector<matched_case>& all, double level) {
  std::vector<double> changes;
  const int parts = all.size() < 5 ? int((8 + all.size() - 1) / all.size()) : 1;
  for (const auto& m : all) {
    if (parts == 1 || m.before.rounds.empty() || m.after.rounds.empty()) {
      changes.push_back(m.within.change);
      continue;
    }
    const auto parts_here = std::min({std::size_t(parts), m.before.rounds.size(), m.after.rounds.size()});
    const auto before = block_medians(m.before.rounds, int(parts_here));
    const auto after = block_medians(m.after.rounds, int(parts_here));
    for (std::size_t b = 0; b < parts_here; ++b) changes.push_back(after[b] - before[b]);
  }
  return chance(mean_of_blocks(changes), level);
}

// How far one of these cases may be off the others by chance; 0 of too few.
double chance_among(const std::vector<matched_case>& all, std::size_t index, double level) {
  std::vector<double> others;
  for (const auto& m : all) {
    if (m.index != index) others.push_back(m.within.change);
  }
  if (others.size() < 4) return 0;
  auto spread = mean_of_blocks(others);
  spread.error *= std::sqrt(double(others.size()) + 1);  // of one more case, not of their mean
  return chance(spread, level);
}

double noise_of(double ratio, double chance) { return ratio * std::expm1(chance); }

class comparer {
 public:
  comparer(const std::vector<result_row>& before, const std::vector<result_row>& after,
           const std::vector<std::string>& judged, const compare_limits& limits)
      : before_(before),
        after_(after),
        judged_(judged),
        limits_(limits),
        rows_before_(rows_by_problem(before)),
        rows_after_(rows_by_problem(after)) {}

  comparison run() {
    std::size_t matched = 0;
    for (const auto& row : before_) {
      const auto* other = find_row(rows_after_, problem_identity(row), row.provider);
      matched += other != nullptr;
      if (row.good()) add(row, other);  // otherwise there is nothing to compare with
    }
    for (const auto& row : after_) {  // whatever it was before
      const auto* other = find_row(rows_before_, problem_identity(row), row.provider);
      if ((other == nullptr || !other->good()) && row.is_wrong()) {
        result_.cases.push_back(case_of(row));
        result_.cases.back().new_s = row.median_s;
        result_.cases.back().verdict = change::broken;
      }
    }
    result_.added = int(after_.size() - matched);
    judge_cases();
    for (const auto& name : judged_) add_group(name, of_provider_[name], 0.5 / double(judged_.size()));
    const auto classes = double(of_class_.size());
    for (const auto& name : class_order_) {
      const auto& all = of_class_[name];
      const bool is_part =
          is_judged(all.front()) && all.size() < of_provider_[provider_of(all.front())].size();
      add_group(name, all, is_part && all.size() >= 5 ? 0.25 / classes : 0);
    }
    return std::move(result_);
  }

 private:
  const std::string& provider_of(const matched_case& m) const { return result_.cases[m.index].provider; }
  bool is_judged(const std::string& provider) const {
    return std::find(judged_.begin(), judged_.end(), provider) != judged_.end();
  }
  bool is_judged(const matched_case& m) const { return is_judged(provider_of(m)); }

  static case_change case_of(const result_row& row) {
    case_change c{row.provider, row.problem(), group_of(row)};
    if (row.rank >= 0) c.problem += fmt::format(" rank {}", row.rank);
    return c;
  }

  void add(const result_row& before, const result_row* after) {
    case_change c = case_of(before);
    c.old_s = before.median_s;
    c.verdict = after == nullptr ? change::gone : after->good() ? change::none : change::broken;
    if (after != nullptr) c.new_s = after->median_s;
    if (c.verdict == change::none) match(c, before, *after);
    result_.cases.push_back(std::move(c));
  }

  void match(case_change& c, const result_row& before, const result_row& after) {
    std::vector<const result_row*> beside_before, beside_after;
    const auto problem = problem_identity(before);
    for (const auto* row :
         is_judged(before.provider) ? rows_before_.at(problem) : std::vector<const result_row*>()) {
      const auto* other = find_row(rows_after_, problem, row->provider);
      if (is_judged(row->provider) || !row->good() || other == nullptr || !other->good()) continue;
      beside_before.push_back(row);
      beside_after.push_back(other);
    }
    const auto has_cpu = [](const result_row* row) { return !row->cpu_samples.empty(); };
    const bool by_cpu = has_cpu(&before) && has_cpu(&after) &&
                        std::all_of(beside_before.begin(), beside_before.end(), has_cpu) &&
                        std::all_of(beside_after.begin(), beside_after.end(), has_cpu);
    const auto kind = by_cpu ? &result_row::cpu_samples : &result_row::samples;
    matched_case m;
    m.index = result_.cases.size();
    m.before = relative_times_of(before, beside_before, kind);
    m.after = relative_times_of(after, beside_after, kind);
    m.within = change_of_case(m.before, m.after);
    c.ratio = std::exp(m.within.change);
    if (is_judged(before.provider)) {
      ++(m.before.rounds.empty() || m.after.rounds.empty() ? result_.by_medians : result_.by_rounds);
      result_.by_cpu += by_cpu;
      result_.alone += beside_before.empty();
    }
    if (!of_class_.contains(c.group)) class_order_.push_back(c.group);
    of_class_[c.group].push_back(m);
    of_provider_[c.provider].push_back(std::move(m));
  }

  void judge_cases() {
    std::size_t count = 0;
    for (const auto& name : judged_) count += of_provider_[name].size();
    for (const auto& [provider, all] : of_provider_) {
      for (const auto& m : all) {
        auto& c = result_.cases[m.index];
        const double level = 0.25 * false_alarms / double(std::max<std::size_t>(count, 1));
        const auto& peers = of_class_[c.group].size() > 4 ? of_class_[c.group] : all;
        const double off = std::max(chance(m.within, level), chance_among(peers, m.index, level));
        c.noise = noise_of(c.ratio, off);
        c.verdict = judge(c.ratio, off, limits_);
      }
    }
  }

  // share: of the false alarms; 0: not judged.
  void add_group(const std::string& name, const std::vector<matched_case>& all, double share) {
    if (all.empty()) return;
    class_summary s{name, int(all.size()), mean_of(all), 0, 0, {}};
    for (const auto& m : all) {
      const auto& c = result_.cases[m.index];
      if (c.ratio > s.worst) s.worst = c.ratio, s.worst_problem = c.problem;
    }
    if (share > 0) {
      const double off = chance_of_mean(all, share * false_alarms);
      s.noise = noise_of(s.mean, off);
      s.verdict = judge(s.mean, off, {limits_.group, limits_.group, limits_.group});
    }
    result_.classes.push_back(std::move(s));
  }

  const std::vector<result_row>& before_;
  const std::vector<result_row>& after_;
  const std::vector<std::string>& judged_;
  const compare_limits& limits_;
  row_index rows_before_, rows_after_;
  std::map<std::string, std::vector<matched_case>> of_provider_, of_class_;
  std::vector<std::string> class_order_;
  comparison result_;
};

}  // namespace

change judge(double ratio, double chance, const compare_limits& limits) {
  const bool slower = ratio >= 1;
  const bool beyond = slower ? ratio >= limits.warn : ratio <= 1 / limits.warn;
  if (!beyond) return change::none;
  if (std::abs(std::log(ratio)) <= chance) return change::noise;
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
                   const std::vector<std::string>& judged, const compare_limits& limits) {
  return comparer(before, after, judged, limits).run();
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

#include "summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "measure/core/cpus.hpp"
#include "report/read.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

struct timed_rank {
  int rank;
  double seconds;
  double error;  // of the median: half its notch (McGill, Tukey and Larsen, 1978)
};

// A time over the median rank's: of one case, and how uncertain its logarithm is.
struct relative_time {
  double ratio;
  double log_error;
};
relative_time relative(const timed_rank& t, const timed_rank& median) {
  return {t.seconds / median.seconds, std::hypot(t.error / t.seconds, median.error / median.seconds)};
}
// Slower by more than the limit, and by more than its repetitions spread.
bool is_outlier(const relative_time& t, double limit) {
  return t.ratio > limit && std::log(t.ratio) > t.log_error;
}

double notch(const result_row& row) {
  return row.repetitions > 0 ? 1.57 * row.iqr_s / std::sqrt(double(row.repetitions)) : 0;
}

const timed_rank& median_rank(const std::vector<timed_rank>& sorted) {
  return sorted[(sorted.size() - 1) / 2];
}

// "rank 3 on node7"
std::string place(int rank, const std::vector<std::string>& hosts) {
  return fmt::format("rank {} on {}", rank, hosts.at(rank));
}

ranks_of_case summarize_case(const std::string& provider, const std::string& problem,
                             const std::vector<timed_rank>& times, double limit) {
  ranks_of_case c;
  c.provider = provider;
  c.problem = problem;
  c.ranks = int(times.size());
  c.median_s = median_rank(times).seconds;
  c.fastest_s = times.front().seconds;
  c.fastest_rank = times.front().rank;
  c.slowest_s = times.back().seconds;
  c.slowest_rank = times.back().rank;
  for (const auto& t : times) {
    if (is_outlier(relative(t, median_rank(times)), limit)) c.outliers.push_back(t.rank);
  }
  return c;
}

// In geometric mean over cases, whose errors are independent.
relative_time mean_of(const std::vector<relative_time>& times) {
  std::vector<double> ratios;
  double squares = 0;
  for (const auto& t : times) {
    ratios.push_back(t.ratio);
    squares += t.log_error * t.log_error;
  }
  return {geometric_mean(ratios), std::sqrt(squares) / double(times.size())};
}

std::vector<member_of_job> members(const std::map<std::string, std::vector<relative_time>>& times,
                                   const std::vector<std::string>& order, double limit) {
  std::vector<member_of_job> all;
  for (const auto& name : order) {
    const auto at = times.find(name);
    if (at == times.end()) continue;
    const auto mean = mean_of(at->second);
    all.push_back({name, mean.ratio, is_outlier(mean, limit)});
  }
  return all;
}

std::string rank_name(int rank) { return fmt::format("rank {}", rank); }

json to_json(const std::vector<member_of_job>& members, const char* key) {
  auto all = json::array();
  for (const auto& m : members) {
    all.push_back({{key, m.name}, {"relative_time", m.relative_time}, {"outlier", m.is_outlier}});
  }
  return all;
}

}  // namespace

job_summary summarize_job(const json& rows, const std::vector<std::string>& hosts, double limit) {
  json context;
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<timed_rank>> times;
  for (const auto& from : rows) {
    const auto row = row_of(from);
    if (!row.measured() || row.rank < 0) continue;
    const std::pair key{row.provider, row.problem()};
    if (!times.contains(key)) order.push_back(key);
    times[key].push_back({row.rank, row.median_s, notch(row)});
  }
  job_summary summary;
  std::map<std::string, std::vector<relative_time>> of_rank, of_node;
  for (const auto& key : order) {
    auto& of_case = times[key];
    std::sort(of_case.begin(), of_case.end(),
              [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
    summary.cases.push_back(summarize_case(key.first, key.second, of_case, limit));
    for (const auto& t : of_case) {
      const auto time = relative(t, median_rank(of_case));
      of_rank[rank_name(t.rank)].push_back(time);
      of_node[hosts.at(t.rank)].push_back(time);
    }
  }
  std::vector<std::string> rank_names, nodes;
  for (std::size_t r = 0; r < hosts.size(); ++r) {
    rank_names.push_back(rank_name(int(r)));
    if (std::find(nodes.begin(), nodes.end(), hosts[r]) == nodes.end()) nodes.push_back(hosts[r]);
  }
  summary.ranks = members(of_rank, rank_names, limit);
  summary.nodes = members(of_node, nodes, limit);
  return summary;
}

std::vector<std::string> shared_devices(const json& ranks) {
  std::map<std::pair<std::string, std::string>, std::vector<int>> users;  // of a host's CPU or GPU
  for (const auto& r : ranks) {
    const auto add = [&](const std::string& what) {
      users[{r.value("host", ""), what}].push_back(r.value("rank", -1));
    };
    if (r.contains("gpu_pci_bus_id")) {
      add("GPU " + r.value("gpu_pci_bus_id", ""));
    } else if (r.contains("cpus_used")) {
      for (const int cpu : parse_cpus(r.value("cpus_used", ""))) add(fmt::format("CPU {}", cpu));
    }
  }
  std::map<std::string, std::vector<std::string>> shared;  // by who shares it
  for (const auto& [place, all] : users) {
    if (all.size() > 1)
      shared[fmt::format("ranks {} on {}", fmt::join(all, ", "), place.first)].push_back(place.second);
  }
  std::vector<std::string> lines;
  for (const auto& [who, what] : shared) {
    lines.push_back(fmt::format(
        "{} share {} and slow each other down: start fewer on a node, bind each to cores or a GPU "
        "of its own, or pass --isolated",
        who, fmt::join(what, ", ")));
  }
  return lines;
}

std::string lines_of_case(const job_summary& summary, const std::vector<std::string>& hosts,
                          std::size_t first) {
  std::string text;
  for (auto i = first; i < summary.cases.size(); ++i) {
    const auto& c = summary.cases[i];
    text += fmt::format("{:28} {:22} {:3} ranks  median {:.4g} s  slowest {:.4g} s ({})  spread {:.1f}%",
                        c.problem, c.provider, c.ranks, c.median_s, c.slowest_s, place(c.slowest_rank, hosts),
                        100 * c.spread());
    if (!c.outliers.empty()) text += fmt::format("  outliers: rank {}", fmt::join(c.outliers, ", "));
    text += '\n';
  }
  return text;
}

std::string text_of_members(const job_summary& summary, double limit) {
  std::string text;
  for (const auto* group : {&summary.nodes, &summary.ranks}) {
    if (group->size() < 2) continue;  // one node has no others to be measured by
    for (const auto& m : *group) {
      if (m.is_outlier) {
        text += fmt::format("OUTLIER: {} takes {:.3f} times the median rank's time\n",
                            group == &summary.nodes ? "node " + m.name : m.name, m.relative_time);
      }
    }
  }
  if (text.empty())
    text = fmt::format("no node or rank takes more than {:.2f} times the median rank's time\n", limit);
  return text;
}

json to_json(const job_summary& summary, double limit) {
  json out;
  out["outlier_limit"] = limit;
  out["nodes"] = to_json(summary.nodes, "node");
  out["ranks"] = to_json(summary.ranks, "rank");
  out["cases"] = json::array();
  for (const auto& c : summary.cases) {
    out["cases"].push_back({{"provider", c.provider},
                            {"case", c.problem},
                            {"ranks", c.ranks},
                            {"median_s", c.median_s},
                            {"fastest_s", c.fastest_s},
                            {"fastest_rank", c.fastest_rank},
                            {"slowest_s", c.slowest_s},
                            {"slowest_rank", c.slowest_rank},
                            {"spread", c.spread()},
                            {"outliers", c.outliers}});
  }
  return out;
}

}  // namespace keramos::perf

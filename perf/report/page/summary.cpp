#include "summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "charts.hpp"
#include "html.hpp"
#include "measure/core/statistics.hpp"
#include "report/svg.hpp"
#include "report/units.hpp"

namespace keramos::perf {
namespace {

// One sort of trouble, and where it was met.
struct trouble {
  std::string who, what, reason;
  std::vector<std::string> problems;
};

void add(std::vector<trouble>& all, const trouble& one) {
  const auto same = std::find_if(all.begin(), all.end(), [&](const trouble& t) {
    return t.who == one.who && t.what == one.what && t.reason == one.reason;
  });
  if (same == all.end()) {
    all.push_back(one);
  } else {
    same->problems.insert(same->problems.end(), one.problems.begin(), one.problems.end());
  }
}

std::string list_of(const std::vector<trouble>& all, const char* css_class, const char* id,
                    const char* title) {
  if (all.empty()) return {};
  auto text = fmt::format("<section class=\"{0}\" aria-labelledby=\"{1}\">\n<h2 id=\"{1}\">{2}</h2>\n<ul>\n",
                          css_class, id, title);
  for (const auto& t : all) {
    text += fmt::format("<li><strong>{} {}</strong>", escaped(t.who), t.what);
    constexpr std::size_t shown = 5;
    for (std::size_t i = 0; i < std::min(shown, t.problems.size()); ++i)
      text += (i == 0 ? " in " : "; ") + escaped(t.problems[i]);
    if (t.problems.size() > shown) text += fmt::format(" and {} more", t.problems.size() - shown);
    text += ": " + escaped(t.reason.empty() ? "the file has no reason" : t.reason) + "</li>\n";
  }
  return text + "</ul>\n</section>\n";
}

std::string who(const result_row& r) {
  return r.rank < 0 ? r.provider : fmt::format("{} on rank {}", r.provider, r.rank);
}

// Of ranks: those that failed, and those that are slower than the others.
void add_ranks(const results_file& file, const nlohmann::ordered_json& job, std::vector<trouble>& failed,
               std::vector<trouble>& noted) {
  const auto of_ranks = file.context.find("ranks");  // of `distributed` it is their number
  const bool is_list = of_ranks != file.context.end() && of_ranks->is_array();
  const auto ranks = is_list ? *of_ranks : nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i].value("status", "") == "failed")
      add(failed, {fmt::format("Rank {} on {}", i, ranks[i].value("host", "")),
                   "failed",
                   ranks[i].value("reason", ""),
                   {}});
  }
  for (const auto& r : job.value("ranks", nlohmann::ordered_json::array())) {
    if (r.value("outlier", false))
      add(noted, {r.value("rank", ""),
                  "is slow",
                  fmt::format("its times are {:.3f} of the median rank's", r.value("relative_time", 0.0)),
                  {}});
  }
}

}  // namespace

std::string verification(const results_file& file, const nlohmann::ordered_json& job) {
  int right = 0, wrong = 0, failed = 0, missing = 0;
  std::vector<trouble> troubles, noted;
  for (const auto& r : file.rows) {
    const bool is_wrong = r.verified.has_value() && !*r.verified;
    const bool is_missing = !r.measured() && !r.failed() && !is_wrong;
    right += r.good() && r.verified.has_value();
    wrong += is_wrong;
    failed += r.failed();
    missing += !r.measured() && !r.failed();
    auto reason = r.reason;
    if (is_wrong && reason.empty())
      reason = fmt::format("an element is off by {:.2g}, allowed {:.2g}", r.max_error, r.error_bound);
    if (is_wrong) add(troubles, {who(r), "is wrong", reason, {r.problem()}});
    if (r.failed()) add(troubles, {who(r), "failed", reason, {r.problem()}});
    if (is_missing) add(noted, {who(r), "was not measured", reason, {r.problem()}});
  }
  add_ranks(file, job, troubles, noted);
  auto text = fmt::format("<p class=\"{}\">{} result{} verified, {} wrong, {} failed, {} not measured.</p>\n",
                          wrong + failed > 0 || right == 0 ? "bad" : "good", right, right == 1 ? "" : "s",
                          wrong, failed, missing);
  if (!file.complete) {
    text += fmt::format("<p class=\"bad\">This run is incomplete: {}.</p>\n",
                        escaped(file.text("incomplete_because")));
  }
  return text + list_of(troubles, "bad", "failures", "What failed, and why") +
         list_of(noted, "note", "notes", "To be noted");
}

rate_ratio ratio_of(const result_row& own, const result_row& other) {
  rate_ratio r{other.median_s / own.median_s};
  if (own.samples.size() == other.samples.size() && own.samples.size() > 2) {
    std::vector<double> ratios;  // of the same round, which what slows one mostly slows too
    for (std::size_t i = 0; i < own.samples.size(); ++i) ratios.push_back(other.samples[i] / own.samples[i]);
    std::sort(ratios.begin(), ratios.end());
    r.low = std::min(r.value, quantile(ratios, 0.25));
    r.high = std::max(r.value, quantile(ratios, 0.75));
  } else {
    const double half = std::hypot(own.iqr_s / own.median_s, other.iqr_s / other.median_s) / 2;
    r.low = r.value / (1 + half);
    r.high = r.value * (1 + half);
  }
  return r;
}

std::string ratio_text(const rate_ratio& r) {
  const int digits = r.high >= 99.95 ? 0 : r.high >= 9.995 ? 1 : r.low >= 0.0995 ? 2 : 3;
  return fmt::format("{0:.{3}f}\u00a0({1:.{3}f}–{2:.{3}f})", r.value, r.low, r.high, digits);
}

std::string comparison(const std::vector<result_row>& rows) {
  std::map<std::string, const result_row*> own;
  for (const auto& r : rows) {
    if (r.provider == "keramos" && r.good()) own[r.problem()] = &r;
  }
  struct line {
    std::vector<double> ratios;
    rate_ratio least, most;
    std::string worst;
  };
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, line> lines;
  for (const auto& r : rows) {
    const auto at = own.find(r.problem());
    if (r.provider == "keramos" || is_ladder_step(r) || !r.good() || at == own.end()) continue;
    const std::pair key{r.provider, r.value("type")};
    auto& l = lines[key];
    const auto ratio = ratio_of(*at->second, r);
    if (l.ratios.empty()) order.push_back(key);
    if (l.ratios.empty() || ratio.value < l.least.value) l.least = ratio, l.worst = r.problem();
    if (l.ratios.empty() || ratio.value > l.most.value) l.most = ratio;
    l.ratios.push_back(ratio.value);
  }
  if (order.empty()) return {};
  html_table table(
      "Keramos’ rate over theirs: above 1 Keramos is faster. In parentheses the interquartile range: of all "
      "problems for the mean, of the repetitions for least and most.",
      {"baseline", "type", "geometric mean", "least", "most", "problems", "least in"}, 2);
  for (const auto& key : order) {
    auto& l = lines[key];
    std::sort(l.ratios.begin(), l.ratios.end());
    const rate_ratio mean{geometric_mean(l.ratios), quantile(l.ratios, 0.25), quantile(l.ratios, 0.75)};
    table.row({key.first, key.second, ratio_text(l.ratios.size() > 1 ? mean : l.least), ratio_text(l.least),
               ratio_text(l.most), std::to_string(l.ratios.size()), l.worst});
  }
  return section_opening({"comparison", "Keramos beside the others"}) + table.html();
}

}  // namespace keramos::perf

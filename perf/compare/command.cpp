#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "compare.hpp"
#include "core/problem.hpp"
#include "core/range.hpp"

namespace keramos::perf {
namespace {

struct compare_options {
  std::string old_path, new_path;
  compare_limits limits;
  std::string providers;
  std::vector<std::string> where;
  std::string format = "table";
  bool all = false, different_devices = false, different_baselines = false, allow_gone = false;
};

const char* word(change verdict) {
  switch (verdict) {
    case change::none:
      return "";
    case change::noise:
      return "within the spread";
    case change::faster:
      return "faster";
    case change::slower:
      return "SLOWER";
    case change::much_slower:
      return "SLOWER, FAIL";
    case change::broken:
      return "WRONG OR FAILED NOW";
    case change::gone:
      break;
  }
  return "GONE";
}

std::string time_text(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 1e-6) return fmt::format("{:.1f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

std::string ratio_text(const case_change& c) {
  return c.ratio > 0 ? fmt::format("{:.3f} +- {:.3f}", c.ratio, c.noise) : "-";
}

std::vector<std::string> providers_of(const std::vector<result_row>& rows) {
  std::vector<std::string> names;
  for (const auto& r : rows) {
    if (std::find(names.begin(), names.end(), r.provider) == names.end()) names.push_back(r.provider);
  }
  return names;
}

class compare_session {
 public:
  explicit compare_session(const compare_options& options)
      : options_(options), old_(read_results(options.old_path)), new_(read_results(options.new_path)) {
    keep_where(old_.rows, options.where);
    keep_where(new_.rows, options.where);
    choose_judged();
    const auto differ = differences(old_, new_, providers_of(new_.rows), options.different_devices,
                                    options.different_baselines);
    if (!differ.empty()) throw usage_error(differ.front());
    result_ = compare(old_.rows, new_.rows, options.limits);
    const bool any = std::any_of(result_.cases.begin(), result_.cases.end(), [&](const case_change& c) {
      return is_judged(c) && c.verdict != change::gone;
    });
    if (!any) {
      throw usage_error(
          fmt::format("{} and {} have no case in common: write the paths of two runs of the same "
                      "command",
                      options.old_path, options.new_path));
    }
  }

  int run() const {
    if (options_.format == "json") {
      fmt::print("{}\n", document().dump(2));
    } else if (options_.format == "csv") {
      print_csv();
    } else {
      print_tables();
    }
    return failed() ? 1 : 0;
  }

 private:
  // By default Keramos' own rows: the others tell how much the machine itself drifted.
  void choose_judged() {
    const auto present = providers_of(old_.rows);
    if (!options_.providers.empty()) {
      for (const auto& name : split_list(options_.providers)) {
        if (std::find(present.begin(), present.end(), name) == present.end()) {
          throw usage_error(fmt::format("--provider {}: not in {}: write any of {}", name, options_.old_path,
                                        fmt::join(present, ",")));
        }
        judged_.push_back(name);
      }
      return;
    }
    for (const auto& name : present) {
      if (name == "keramos") judged_.push_back(name);
    }
    if (judged_.empty()) judged_ = present;
  }

  bool is_judged(const case_change& c) const {
    return std::find(judged_.begin(), judged_.end(), c.provider) != judged_.end();
  }
  int count(std::initializer_list<change> verdicts) const {
    return int(std::count_if(result_.cases.begin(), result_.cases.end(), [&](const case_change& c) {
      return is_judged(c) && std::find(verdicts.begin(), verdicts.end(), c.verdict) != verdicts.end();
    }));
  }
  bool failed() const {
    return count({change::much_slower, change::broken}) > 0 ||
           (!options_.allow_gone && count({change::gone}) > 0);
  }

  static std::string side(const results_file& f) {
    return fmt::format("{}  {}  revision {}  {}{}", f.path, f.text("date"), f.text("git_revision"),
                       f.platform(), f.complete ? "" : "  INCOMPLETE");
  }

  void print_tables() const {
    fmt::print(
        "old  {}\nnew  {}\nratio: new time over old, above 1 is slower; +-: what the spread of the "
        "repetitions explains\n\n",
        side(old_), side(new_));
    std::vector<std::vector<std::string>> lines{{"provider", "case", "", "old", "new", "ratio"}};
    for (const auto& c : result_.cases) {
      if (!options_.all && (c.verdict == change::none || c.verdict == change::noise || !is_judged(c)))
        continue;
      lines.push_back({c.provider, c.problem, is_judged(c) ? word(c.verdict) : "", time_text(c.old_s),
                       time_text(c.new_s), ratio_text(c)});
    }
    if (lines.size() > 1) fmt::print("{}\n", aligned(lines, 3));
    std::vector<std::vector<std::string>> summary{
        {"class", "worst case", "cases", "geometric mean", "worst"}};
    for (const auto& s : result_.classes) {
      summary.push_back({s.group, s.worst_problem, std::to_string(s.cases), fmt::format("{:.3f}", s.mean),
                         fmt::format("{:.3f}", s.worst)});
    }
    fmt::print("{}\n", aligned(summary, 2));
    fmt::print(
        "{} cases of {}: {} slower beyond {:.2f}, {} beyond {:.2f}, {} faster, {} wrong or failed, {} gone, "
        "{} new: {}\n",
        count({change::none, change::noise, change::faster, change::slower, change::much_slower,
               change::broken, change::gone}),
        fmt::join(judged_, ", "), count({change::much_slower}), options_.limits.fail, count({change::slower}),
        options_.limits.warn, count({change::faster}), count({change::broken}), count({change::gone}),
        result_.added, failed() ? "FAILED" : "passed");
  }

  void print_csv() const {
    fmt::print("provider,case,class,old_s,new_s,ratio,noise,judged,verdict\n");
    for (const auto& c : result_.cases) {
      fmt::print("{},{},{},{},{},{},{},{},\"{}\"\n", c.provider, c.problem, c.group, c.old_s, c.new_s,
                 c.ratio, c.noise, is_judged(c), word(c.verdict));
    }
  }

  nlohmann::ordered_json document() const {
    nlohmann::ordered_json out;
    out["schema"] = "keramos-perf-compare/1";
    out["old"] = options_.old_path;
    out["new"] = options_.new_path;
    out["warn"] = options_.limits.warn;
    out["fail"] = options_.limits.fail;
    out["judged"] = judged_;
    out["passed"] = !failed();
    for (const auto& c : result_.cases) {
      out["cases"].push_back({{"provider", c.provider},
                              {"case", c.problem},
                              {"class", c.group},
                              {"old_s", c.old_s},
                              {"new_s", c.new_s},
                              {"ratio", c.ratio},
                              {"noise", c.noise},
                              {"verdict", word(c.verdict)}});
    }
    for (const auto& s : result_.classes) {
      out["classes"].push_back({{"class", s.group},
                                {"cases", s.cases},
                                {"geometric_mean", s.mean},
                                {"worst", s.worst},
                                {"worst_case", s.worst_problem}});
    }
    return out;
  }

  const compare_options& options_;
  results_file old_, new_;
  std::vector<std::string> judged_;
  comparison result_;
};

void check(const compare_options& o) {
  if (!(o.limits.warn > 1) || !(o.limits.fail >= o.limits.warn)) {
    throw usage_error(
        "limits are ratios above 1, and --fail is not below --warn: write --warn 1.1 --fail 1.25");
  }
  if (o.format != "table" && o.format != "json" && o.format != "csv") {
    throw usage_error(fmt::format("format '{}' is not known: write --format table, json or csv", o.format));
  }
}

}  // namespace

void add_compare_command(CLI::App& app, std::function<int()>& command) {
  auto options = std::make_shared<compare_options>();
  auto* sub = app.add_subcommand("compare", "two results files: what became slower");
  sub->footer(
      "A case counts as slower when its time grew by --warn or more and the notches of the two medians\n"
      "(1.57 IQR / sqrt(repetitions)) do not meet, so that noise stays silent. Exit status: 0; 1 if a case\n"
      "is slower by --fail or more, wrong now, or gone; 2 for bad usage and files that must not be "
      "compared.\n\n"
      "  keramos-perf gemm --output old.json   # before the change\n"
      "  keramos-perf gemm --output new.json   # after it, on the same machine\n"
      "  keramos-perf compare old.json new.json");
  sub->add_option("old", options->old_path, "results of the run before (.json)")->required();
  sub->add_option("new", options->new_path, "results of the run after (.json)")->required();
  sub->add_option("--warn", options->limits.warn, "ratio of times that is worth a line")
      ->capture_default_str();
  sub->add_option("--fail", options->limits.fail, "ratio of times that is a failure")->capture_default_str();
  sub->add_option("--provider", options->providers,
                  "whose rows are judged (default: keramos; all are summed up)");
  sub->add_option("--where", options->where,
                  "only rows with key=value, e.g. type=f32,f64; repeat for more keys");
  sub->add_flag("--all", options->all, "show every case");
  sub->add_flag("--allow-gone", options->allow_gone, "cases that the new file lacks are no failure");
  sub->add_flag("--different-devices", options->different_devices, "compare what ran on different devices");
  sub->add_flag("--different-baselines", options->different_baselines,
                "compare with other versions of the libraries judged");
  sub->add_option("--format", options->format, "table, json or csv")->capture_default_str();
  sub->callback([options, &command] {
    command = [options] {
      check(*options);
      return compare_session(*options).run();
    };
  });
}

}  // namespace keramos::perf

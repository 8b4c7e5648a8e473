#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "compare.hpp"
#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "measure/core/range.hpp"
#include "report/result.hpp"

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
      return "within chance";
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

std::string ratio_text(double ratio, double noise) {
  if (ratio <= 0) return "-";
  return std::isfinite(noise) ? fmt::format("{:.3f} +- {:.3f}", ratio, noise)
                              : fmt::format("{:.3f} +- ?", ratio);
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
    result_ = compare(old_.rows, new_.rows, judged_, options.limits);
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
  int groups_slower() const {
    return int(std::count_if(result_.classes.begin(), result_.classes.end(),
                             [](const class_summary& s) { return s.verdict == change::much_slower; }));
  }
  bool failed() const {
    return groups_slower() > 0 || count({change::much_slower, change::broken}) > 0 ||
           (!options_.allow_gone && count({change::gone}) > 0);
  }

  static std::string side(const results_file& f) {
    return fmt::format("{}  {}  revision {}  {}{}", f.path, f.text("date"), f.text("git_revision"),
                       f.platform(), f.complete ? "" : "  INCOMPLETE");
  }

  int judged_cases() const { return result_.by_rounds + result_.by_medians; }
  std::string how_judged() const {
    std::vector<std::string> parts;
    if (result_.by_rounds > 0) {
      parts.push_back(fmt::format("{} cases by each round's times", result_.by_rounds));
    }
    if (result_.by_cpu > 0) {
      parts.push_back(fmt::format("{} of them by CPU time, since all ran on one CPU", result_.by_cpu));
    }
    if (result_.by_medians > 0) {
      parts.push_back(fmt::format("{} by medians, since a file has no samples_s", result_.by_medians));
    }
    if (result_.alone > 0) {
      parts.push_back(fmt::format(
          "{} without another provider beside them, so that a slower machine looks like a slower library",
          result_.alone));
    }
    return fmt::format("{}", fmt::join(parts, "; "));
  }

  // Files of older versions tell less of the device: then another of the same name is not seen.
  std::string note() const {
    const bool old_tells = old_.context.contains("device_identity");
    if (old_tells == new_.context.contains("device_identity")) return {};
    return fmt::format("note: {} tells the device by its name alone\n", old_tells ? new_.path : old_.path);
  }

  void print_tables() const {
    fmt::print(
        "old  {}\nnew  {}\nratio: new time over old, above 1 is slower{}; +-: what chance explains\n"
        "judged: {}\n{}\n",
        side(old_), side(new_),
        result_.alone < judged_cases() ? ", of judged providers over the others' times beside them" : "",
        how_judged(), note());
    std::vector<std::vector<std::string>> lines{{"provider", "case", "", "old", "new", "ratio"}};
    for (const auto& c : result_.cases) {
      if (!options_.all && (c.verdict == change::none || c.verdict == change::noise || !is_judged(c)))
        continue;
      lines.push_back({c.provider, c.problem, is_judged(c) ? word(c.verdict) : "", time_text(c.old_s),
                       time_text(c.new_s), ratio_text(c.ratio, c.noise)});
    }
    if (lines.size() > 1) fmt::print("{}\n", aligned(lines, 3));
    std::vector<std::vector<std::string>> summary{
        {"group", "", "worst case", "cases", "geometric mean", "worst"}};
    for (const auto& s : result_.classes) {
      summary.push_back({s.group, word(s.verdict), s.worst_problem, std::to_string(s.cases),
                         s.noise > 0 ? ratio_text(s.mean, s.noise) : fmt::format("{:.3f}", s.mean),
                         fmt::format("{:.3f}", s.worst)});
    }
    fmt::print("{}\n", aligned(summary, 3));
    fmt::print(
        "{} cases of {}: {} slower beyond {:.2f}, {} beyond {:.2f}, {} faster, {} wrong or failed, {} gone, "
        "{} new; {} groups slower: {}\n",
        count({change::none, change::noise, change::faster, change::slower, change::much_slower,
               change::broken, change::gone}),
        fmt::join(judged_, ", "), count({change::much_slower}), options_.limits.fail, count({change::slower}),
        options_.limits.warn, count({change::faster}), count({change::broken}), count({change::gone}),
        result_.added, groups_slower(), failed() ? "FAILED" : "passed");
  }

  void print_csv() const {
    fmt::print("provider,case,class,old_s,new_s,ratio,noise,judged,verdict\n");
    for (const auto& c : result_.cases) {
      fmt::print("{},{},{},{},{},{},{},{},{}\n", quoted(c.provider), quoted(c.problem), quoted(c.group),
                 c.old_s, c.new_s, c.ratio, c.noise, is_judged(c), quoted(word(c.verdict)));
    }
  }

  nlohmann::ordered_json document() const {
    nlohmann::ordered_json out;
    out["schema"] = "keramos-perf-compare/1";
    out["old"] = options_.old_path;
    out["new"] = options_.new_path;
    out["warn"] = options_.limits.warn;
    out["fail"] = options_.limits.fail;
    out["group"] = options_.limits.group;
    out["judged"] = judged_;
    out["judge"] = {{"by_rounds", result_.by_rounds},
                    {"by_cpu", result_.by_cpu},
                    {"by_medians", result_.by_medians},
                    {"alone", result_.alone}};
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
                                {"noise", s.noise},
                                {"verdict", word(s.verdict)},
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
  if (!(o.limits.warn > 1) || !(o.limits.fail >= o.limits.warn) || !(o.limits.group > 1)) {
    throw usage_error(
        "limits are ratios above 1, and --fail is not below --warn: write --warn 1.1 --fail 1.25 --group "
        "1.03");
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
      "What counts are times over those of the other providers of the same round, so that a machine that is\n"
      "busy for a while is not taken for a slower library: measure at least two. A case is slower when its\n"
      "ratio grew by --warn or more and beyond chance; all cases of a provider together, and those of a "
      "type\n"
      "and kind of shape, when their geometric mean grew by --group or more and beyond chance. Chance is\n"
      "judged by blocks of neighbouring repetitions and by how much cases differ, such that one comparison "
      "of\n"
      "100 of identical libraries finds anything slower. More cases and repetitions see smaller changes.\n"
      "Exit status: 0; 1 if a group is slower, or a case slower by --fail or more, wrong now, or gone; 2 "
      "for\n"
      "bad usage and files that must not be compared.\n\n"
      "  keramos-perf gemm --output old.json   # before the change\n"
      "  keramos-perf gemm --output new.json   # after it, on the same machine\n"
      "  keramos-perf compare old.json new.json");
  sub->add_option("old", options->old_path, "results of the run before (.json)")->required();
  sub->add_option("new", options->new_path, "results of the run after (.json)")->required();
  sub->add_option("--warn", options->limits.warn, "ratio of times that is worth a line")
      ->capture_default_str();
  sub->add_option("--fail", options->limits.fail, "ratio of times that is a failure")->capture_default_str();
  sub->add_option("--group", options->limits.group, "ratio of a group's geometric mean that is a failure")
      ->capture_default_str();
  sub->add_option("--provider", options->providers,
                  "whose rows are judged (default: keramos), by what was measured beside them");
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
      const auto session =
          reading(options->old_path + " or " + options->new_path, [&] { return compare_session(*options); });
      return session.run();
    };
  });
}

}  // namespace keramos::perf

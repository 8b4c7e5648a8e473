#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "portability.hpp"

namespace keramos::perf {
namespace {

struct portability_options {
  std::vector<std::string> files;
  std::vector<std::string> where;
  std::string efficiency = "application,architectural";
  std::string format = "table";
  std::string plot;
  std::size_t least = 2;
  bool problems = false;
};

const char* name(efficiency_kind kind) {
  return kind == efficiency_kind::application ? "application" : "architectural";
}

std::vector<efficiency_kind> kinds_of(const portability_options& o) {
  if (o.efficiency == "application") return {efficiency_kind::application};
  if (o.efficiency == "architectural") return {efficiency_kind::architectural};
  if (o.efficiency == "application,architectural") {
    return {efficiency_kind::application, efficiency_kind::architectural};
  }
  throw usage_error(fmt::format(
      "efficiency '{}' is not known: write --efficiency application, architectural or both with a comma",
      o.efficiency));
}

std::string table(const portability_result& r, efficiency_kind kind, bool problems) {
  auto text = fmt::format("{} efficiency: {}\n", name(kind),
                          kind == efficiency_kind::application
                              ? "part of the best known rate on the platform, any provider's"
                              : "part of the platform's arithmetic peak");
  std::vector<std::vector<std::string>> lines{{"provider"}};
  for (std::size_t i = 0; i < r.platforms.size(); ++i) {
    text += fmt::format("  [{}] {}\n", i + 1, r.platforms[i]);
    lines[0].push_back(fmt::format("[{}]", i + 1));
  }
  lines[0].push_back("metric");
  for (const auto& a : r.applications) {
    lines.push_back({a.provider});
    for (const auto& platform : r.platforms) {
      const double e = a.efficiency.at(platform);
      lines.back().push_back(e > 0 ? fmt::format("{:.3f}", e) : "none");
    }
    lines.back().push_back(fmt::format("{:.3f}", a.metric));
  }
  text += aligned(lines, 1);
  if (!problems) return text + '\n';
  std::vector<std::vector<std::string>> each{{"metric of each problem"}};
  for (const auto& a : r.applications) each[0].push_back(a.provider);
  for (const auto& problem : r.problems) {
    each.push_back({problem});
    for (const auto& a : r.applications)
      each.back().push_back(fmt::format("{:.3f}", a.metric_of_problem.at(problem)));
  }
  return text + '\n' + aligned(each, 1) + '\n';
}

nlohmann::ordered_json to_json(const portability_result& r) {
  nlohmann::ordered_json out;
  for (const auto& a : r.applications) {
    out[a.provider] = {{"metric", a.metric}, {"efficiency", a.efficiency}, {"problems", a.metric_of_problem}};
  }
  return out;
}

int run(const portability_options& o) {
  const auto kinds = kinds_of(o);
  if (o.format != "table" && o.format != "json") {
    throw usage_error(fmt::format("format '{}' is not known: write --format table or json", o.format));
  }
  std::vector<results_file> files;
  for (const auto& path : o.files) {
    files.push_back(reading(path, [&] { return read_results(path); }));
    keep_where(files.back().rows, o.where);
  }
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf-portability/1";
  std::string text, plots;
  for (const auto kind : kinds) {
    const auto result = portability(files, kind);
    document["platforms"] = result.platforms;
    document["problems"] = result.problems;
    document[name(kind)] = to_json(result);
    if (kind == kinds.front()) {
      text += fmt::format("{} problems measured on all of {} platforms\n\n", result.problems.size(),
                          result.platforms.size());
    }
    text += table(result, kind, o.problems);
    if (o.plot.empty()) continue;
    // One picture a kind: NAME.svg, and with both NAME-application.svg and NAME-architectural.svg.
    auto path = o.plot.ends_with(".svg") ? o.plot.substr(0, o.plot.size() - 4) : o.plot;
    path += kinds.size() > 1 ? fmt::format("-{}.svg", name(kind)) : ".svg";
    std::ofstream out(path);
    out << cascade_plot(result, kind, o.least);
    if (!out.flush())
      throw usage_error(fmt::format("{} cannot be written: write --plot with a path that can", path));
    plots += fmt::format("cascade plot: {}\n", path);
  }
  fmt::print("{}", o.format == "json" ? to_text(document, 2) + '\n' : text + plots);
  return 0;
}

}  // namespace

void add_portability_command(CLI::App& app, std::function<int()>& command) {
  auto o = std::make_shared<portability_options>();
  auto* sub =
      app.add_subcommand("portability", "Pennycook's metric over the platforms of several results files");
  sub->footer(
      "For each provider the harmonic mean of its efficiencies over all platforms, 0 if it does not run on "
      "one:\n"
      "of the best rate known there (application) and of the arithmetic peak (architectural). A platform's\n"
      "efficiency is the geometric mean over the problems that all platforms have.\n\n"
      "  keramos-perf portability a100.json mi250.json cpu.json --plot cascade.svg");
  sub->add_option("files", o->files, "results files (.json); those of the same platform are one")->required();
  sub->add_option("--efficiency", o->efficiency, "application, architectural, or both with a comma")
      ->capture_default_str();
  sub->add_option("--where", o->where, "only rows with key=value, e.g. type=f32,f64; repeat for more keys");
  sub->add_flag("--problems", o->problems, "the metric of each problem too");
  sub->add_option("--plot", o->plot, "write the cascade plot to this file (.svg)");
  sub->add_option("--least", o->least, "plot providers that run on at least so many platforms")
      ->capture_default_str();
  sub->add_option("--format", o->format, "table or json")->capture_default_str();
  sub->callback([o, &command] { command = [o] { return run(*o); }; });
}

}  // namespace keramos::perf

#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>

#include "build_info.hpp"
#include "commands/gemm/bench.hpp"
#include "commands/gemm/options.hpp"
#include "commands/gemm/runner.hpp"
#include "counters.hpp"
#include "measure/core/host.hpp"
#include "measure/core/interrupt.hpp"
#include "measure/device/library_plan.hpp"
#include "options.hpp"
#include "report.hpp"
#include "report/context.hpp"
#include "report/output.hpp"
#include "report/plot.hpp"
#include "report/progress.hpp"
#include "step.hpp"

namespace keramos::perf {
namespace {

// Two rows of the table are no steps: the library's own kernel, and the vendor's.
std::string why_of(const std::string& provider) {
  if (provider == "keramos") {
    return "keramos::gemm: the same ideas with tiles, stages and copies tuned for the machine";
  }
  return "the yardstick: not written with Keramos";
}

class ladder_session {
 public:
  ladder_session(const ladder_options& options, int& argc, char** argv)
      : options_(options),
        arguments_(argv, argv + argc),
        bench_(make_bench(options, argc, argv)),
        cases_(options.cases(bench_->device().is_host)),
        left_(costs()) {
    settings_.repetitions = options.repetitions;
    settings_.time_limit_s = options.time_limit_s;
    settings_.sets = options.sets;
    settings_.seed = options.seed != 0 ? options.seed : std::random_device{}() | 1u;
  }

  int run() {
    for (const auto& s : bench_->slots()) {
      if (!s.target) fmt::print(stderr, "keramos-perf: no {}: {}\n", s.name, s.problem);
      if (!s.target && s.asked_for) good_ = false;
    }
    for (const auto type : options_.parsed_types()) {
      if (const auto why = ladder_steps_missing(type); !why.empty())
        fmt::print(stderr, "keramos-perf: {}\n", why);
    }
    context_ = make_context(*bench_, {"keramos-perf ladder", fmt::format("{}", fmt::join(arguments_, " ")),
                                      settings_.seed, options_.parsed_types()});
    // Thirty steps have one version and one library, Keramos'.
    auto& providers = context_.at("providers");
    for (auto p = providers.begin(); p != providers.end();) {
      p = is_ladder_provider_name(p.key()) ? providers.erase(p) : std::next(p);
    }
    context_["complete"] = false;
    context_["incomplete_because"] = "it was still running, or was ended without a warning";
    fmt::print("{}", headline(context_));
    save();
    try {
      if (options_.counters) count();
      for (const auto& g : cases_) measure(g);
    } catch (interruption& interrupted) {
      progress_.clear();
      const auto why = fmt::format("interrupted by signal {}; the cases before are here", interrupted.signal);
      context_["incomplete_because"] = why;
      save();
      fmt::print("INCOMPLETE: {}\n", why);
      interrupted.told = true;
      throw;
    }
    context_.erase("incomplete_because");
    context_["complete"] = true;
    save();
    if (!options_.plot.empty()) plot();
    return good_ ? 0 : 1;
  }

 private:
  // Of each case with B as it is, and transposed, as it is for about a third of the steps.
  std::vector<double> costs() const {
    std::vector<double> all;
    for (const auto& g : cases_) {
      for (const double part : {2.0, 1.0}) all.push_back(part * g.operations());
    }
    return all;
  }

  static std::unique_ptr<gemm_bench> make_bench(const ladder_options& options, int& argc, char** argv) {
    const bool on_host = default_device_is_host();
    const auto choices = options.choices(on_host);
    return on_host && !options.in_process ? make_worker_bench(choices, default_provider_timeout_s, argc, argv)
                                          : make_in_process_bench(choices, argc, argv);
  }

  // Before all timing, so that every table has what was counted. Without it the run is no worse.
  void count() {
    progress_.show("counting bytes: each step once more");
    try {
      counted_ = count_bytes(device_byte_counting(), arguments_);
    } catch (const std::exception& error) {
      counted_.problem = error.what();
    }
    progress_.clear();
    context_["counters"] = nullptr;
    if (counted_.problem.empty()) {
      context_["counters"] = counted_.by;
      fmt::print("bytes counted by {}\n", counted_.by);
    } else {
      context_["counters_missing"] = counted_.problem;
      fmt::print("no bytes counted: {}\n", counted_.problem);
    }
  }

  void measure(gemm_case g) {
    std::vector<gemm_result> results;
    std::optional<interruption> stopped;
    for (const auto op_b : {transpose::N, transpose::T}) {
      g.op_b = op_b;
      try {
        for (auto& r : run_slots(g)) results.push_back(std::move(r));
      } catch (const interruption& interrupted) {
        stopped = interrupted;
        break;
      }
      left_.part_done();
    }
    g.op_b = transpose::N;
    if (results.empty() && stopped) throw *stopped;
    for (const int width : options_.widths()) {
      auto rows = rows_of(g, width, results);
      // Of steps with B transposed nothing is known yet.
      if (stopped) std::erase_if(rows, [](const ladder_row& row) { return !row.result.timed(); });
      set_gains(rows);
      progress_.clear();
      fmt::print("{}", ladder_table(rows, options_.counters));
      std::fflush(stdout);
      for (auto& row : rows) {
        good_ =
            good_ && (row.result.status == outcome::verified || row.result.status == outcome::unavailable);
        // The library and the vendor are rows of every width's table, but results once.
        if (row.width > 0 &&
            (is_ladder_provider_name(row.result.provider) || width == options_.widths().back()))
          rows_.push_back(std::move(row));
      }
      save();
    }
    if (stopped) throw *stopped;
  }

  // Runs those that the case is for: the yardsticks only with B as it is.
  std::vector<gemm_result> run_slots(const gemm_case& g) {
    auto& slots = bench_->slots();
    std::vector<target_slot> all, left_out;
    all.swap(slots);
    for (auto& s : all) {
      const bool step = is_ladder_provider_name(s.name);
      (step || g.op_b == transpose::N ? slots : left_out).push_back(std::move(s));
    }
    settings_.progress = [&](const std::string& what) {
      progress_.show(fmt::format("{} {}x{}x{}  {}  {}", name(g.type), g.m, g.n, g.k, left_.text(), what));
    };
    auto results = run_case(g, *bench_, settings_);
    for (auto& s : left_out) slots.push_back(std::move(s));
    return results;
  }

  std::vector<ladder_row> rows_of(const gemm_case& g, int width,
                                  const std::vector<gemm_result>& results) const {
    std::vector<ladder_row> rows;
    int number = 0;
    for (const auto& step : ladder_steps(g.type, width)) {
      const auto wanted = ladder_provider_name(width, step);
      auto row = row_for(wanted, step.name, width, results);
      if (!row) row = absent(g, step, wanted, width);
      if (!step.beside) row->number = ++number;
      row->tile = fmt::format("{}x{}x{}", step.tile_m, step.tile_n, step.tile_k);
      row->bytes = step.elements_moved(double(g.m), double(g.n), double(g.k)) * double(size_of_a(g.type));
      row->why = step.why;
      rows.push_back(std::move(*row));
    }
    for (const auto& slot : bench_->slots()) {
      if (is_ladder_provider_name(slot.name)) continue;
      auto row = row_for(slot.name, slot.name, width, results);
      if (!row) continue;
      row->number = ++number;
      row->why = why_of(slot.name);
      if (slot.name == "keramos" && !bench_->device().is_host) describe_library(*row);
      rows.push_back(std::move(*row));
    }
    for (auto& row : rows) {
      const auto at = counted_.of.find(counted_call(row.result.provider, row.result.problem));
      if (at != counted_.of.end()) row.counted = at->second;
    }
    return rows;
  }

  static std::optional<ladder_row> row_for(const std::string& provider, const std::string& step, int width,
                                           const std::vector<gemm_result>& results) {
    for (const auto& r : results) {
      if (r.provider != provider) continue;
      ladder_row row;
      row.result = r;
      row.step = step;
      row.width = width;
      return row;
    }
    return std::nullopt;
  }

  // A step that this device cannot do, or not for these extents, is a row that says so.
  ladder_row absent(gemm_case g, const ladder_step& step, const std::string& provider, int width) const {
    ladder_row row;
    g.op_b = step.transposed_b ? transpose::T : transpose::N;
    row.result.provider = provider;
    row.result.backend = bench_->device().backend;
    row.result.device = bench_->device().name;
    row.result.problem = g;
    const auto why = step.cannot(g);
    row.result.reason = "left out: " + (why.empty() ? "it was not run" : why);
    row.step = step.name;
    row.width = width;
    return row;
  }

  static void describe_library(ladder_row& row) {
    const auto& g = row.result.problem;
    const auto plan = library_plan_for(g);
    if (plan.parts.empty() || !plan.parts.front().is_tiled()) return;
    const auto& block = plan.parts.front().block;
    row.tile = block.text();
    const auto blocks = [](std::int64_t extent, std::int64_t of) { return double((extent + of - 1) / of); };
    row.bytes = double(size_of_a(g.type)) *
                (double(g.m) * double(g.k) * blocks(g.n, block.n) +
                 double(g.k) * double(g.n) * blocks(g.m, block.m) + double(g.m) * double(g.n));
  }

  // The file holds what is done so far at any moment.
  void save() const {
    if (!options_.output.empty()) write(options_.output);
  }
  void write(const std::string& path) const { replace_file(path, ladder_document(context_, rows_)); }

  void plot() const {
    const auto file = options_.output.empty() ? options_.plot + ".json" : options_.output;
    if (options_.output.empty()) write(file);
    draw_plot(data_folder(perf_folder), file, options_.plot);
    if (options_.output.empty()) std::filesystem::remove(file);
  }

  const ladder_options& options_;
  std::vector<std::string> arguments_;  // before Kokkos takes its own
  progress_line progress_;
  std::unique_ptr<gemm_bench> bench_;
  std::vector<gemm_case> cases_;
  time_left left_;
  run_settings settings_;
  nlohmann::ordered_json context_;
  counted_bytes counted_;
  std::vector<ladder_row> rows_;
  bool good_ = true;
};

}  // namespace

void add_ladder_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<ladder_options>();
  auto* ladder = app.add_subcommand(
      "ladder", "From the naive matrix product to the library's and the vendor's, a kernel for each idea");
  options->add_to(*ladder);
  ladder->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      options->check();
      if (options->count_once) return count_once(*options, argc, argv);
      note_interrupts();
      return ladder_session(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf

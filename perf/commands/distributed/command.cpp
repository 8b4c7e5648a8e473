#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <random>

#include "build_info.hpp"
#include "measure/core/cblas_library.hpp"
#include "measure/core/host.hpp"
#include "measure/core/json.hpp"
#include "measure/core/range.hpp"
#include "measure/device/machine.hpp"
#include "options.hpp"
#include "report/context.hpp"
#include "report/output.hpp"
#include "report/plot.hpp"
#include "report/result.hpp"
#include "report/units.hpp"

namespace keramos::perf {
namespace {

// What both kinds of rows begin with.
nlohmann::ordered_json row_of(const distributed_case& c) {
  const auto& g = c.problem;
  return {{"type", name(g.type)},
          {"op_a", name(g.op_a)},
          {"op_b", name(g.op_b)},
          {"m", g.m},
          {"n", g.n},
          {"k", g.k},
          {"ranks", c.ranks()}};
}
std::string head_of(const distributed_case& c) {
  const auto& g = c.problem;
  return fmt::format("{:8} {}{} {:>23} {:>6}", name(g.type), name(g.op_a), name(g.op_b),
                     fmt::format("{} x {} x {}", g.m, g.n, g.k), c.ranks());
}
std::string bytes_or_none(double bytes) { return bytes > 0 ? bytes_text(bytes) : "none"; }

// --- On paper ------------------------------------------------------------------------------------

int simulate(const distributed_options& options, const std::string& command_line) {
  run_output output(options.format, options.output);
  const auto machine = options.model();
  output.context = {{"tool", "keramos-perf distributed --simulate"},
                    {"command_line", command_line},
                    {"scaling", options.scaling},
                    {"latency_s", machine.latency_s},
                    {"bandwidth_gbytes_per_s", machine.bytes_per_s * 1e-9},
                    {"rate_gflops", machine.operations_per_s * 1e-9}};
  output.print(fmt::format(
      "{} us a message, {} GB/s and {} GFLOP/s a rank. Bytes are the busiest rank's; bound: the least of A, "
      "B "
      "and C that a rank must touch in any schedule, ratio: what it touches over it.\nThe time is without "
      "redistribution; efficiency: the rank's own products over it\n\n",
      options.latency_us, options.bandwidth, options.rate));
  output.print(fmt::format("{:11} {:>23} {:>6} {:>12} {:>6} {:>10} {:>10} {:>10} {:>6} {:>10} {:>10}\n",
                           "type op", "m x n x k", "ranks", "grid", "steps", "received", "touched", "bound",
                           "ratio", "time", "efficiency"));
  for (const auto& c : options.cases(1)) {
    const auto s = schedule_of(c.problem, c.ranks(), c.memory);
    const double seconds = predicted_seconds(s, c.problem, machine);
    const double ideal = c.problem.operations() / c.ranks() / machine.operations_per_s;
    const auto grid = fmt::format("{}x{}x{}", s.pm, s.pn, s.pk);
    const double received = double(s.volume()), ratio = s.touched() / s.touched_bound();
    output.print(fmt::format("{} {:>12} {:>6} {:>10} {:>10} {:>10} {:6.3f} {:>10} {:9.1f}%\n", head_of(c),
                             grid, s.steps(), bytes_or_none(received), bytes_or_none(s.touched()),
                             bytes_or_none(s.touched_bound()), ratio, time_text(seconds),
                             100 * ideal / seconds));
    auto row = row_of(c);
    row["schedule"] = grid;
    row["steps"] = s.steps();
    row["traffic"] = {{"received_bytes", received},
                      {"touched_bytes", s.touched()},
                      {"bound_bytes", s.touched_bound()},
                      {"ratio", ratio},
                      {"memory_bytes", double(s.memory())}};
    row["predicted_s"] = seconds;
    row["efficiency"] = ideal / seconds;
    output.add(std::move(row));
  }
  output.finish();
  return 0;
}

// --- On ranks ------------------------------------------------------------------------------------

// Rank 0's table and file; the other ranks have none of it.
class report_of_ranks {
 public:
  report_of_ranks(const distributed_options& options, nlohmann::ordered_json context)
      : output_(options.format, options.output), scaling_(options.scaling) {
    output_.context = std::move(context);
    const auto& c = output_.context;
    output_.print(fmt::format(
        "{} ranks on {} node{}, {} threads each, {}, {} scaling, seed {}\n"
        "rates are of all ranks, by the median of the slowest rank's times; efficiency: a rank's "
        "rate over that on the fewest ranks\nbytes are the busiest rank's: to redistribute, of "
        "panels and sums; of bound: what it touches over the least that it must\n\n",
        c["ranks"].get<int>(), c["nodes"].get<int>(), c["nodes"] == 1 ? "" : "s", c["threads"].get<int>(),
        c["mpi"].get<std::string>(), scaling_, c["seed"].get<std::uint64_t>()));
    output_.print(fmt::format("{:11} {:>23} {:>6} {:>6} {:10} {:>10} {:>7} {:>10} {:>10} {:>10} {:>8}\n",
                              "type op", "m x n x k", "ranks", "grid", "provider", "GFLOP/s", "spread",
                              "efficiency", "moved", "received", "of bound"));
    output_.save();
  }

  void add(const distributed_case& c, const std::vector<distributed_result>& results) {
    for (const auto& r : results) add(c, r, &r == &results.front());
    output_.save();
  }
  // Keramos' product, with its timeline. Returns whether there is one.
  bool write_timeline(const std::string& path, const distributed_case& c, const distributed_result& r) {
    if (r.timeline.empty() || !r.traffic) return false;
    auto product = row_of(c);
    product["grid"] = fmt::format("{}x{}", c.grid_rows, c.grid_cols);
    product["block"] = c.block;
    product["schedule"] = r.traffic->schedule_grid;
    product["transport"] = r.traffic->transport;
    const auto document = timeline_document(output_.context, std::move(product), r.timeline);
    replace_file(path, to_text(document, 1) + '\n');
    const auto& share = document["hidden_share"];
    output_.print(share.is_null() ? fmt::format("\n{}: nothing was transferred\n", path)
                                  : fmt::format("\n{}: products hide {:.1f}% of the time of transfers\n",
                                                path, 100 * share.get<double>()));
    return true;
  }
  int finish() {
    output_.finish();
    return good_ ? 0 : 1;
  }

 private:
  void add(const distributed_case& c, const distributed_result& r, bool is_first) {
    const auto grid = fmt::format("{}x{}", c.grid_rows, c.grid_cols);
    const auto seconds = summarize(r.samples);
    const double rate = seconds.count > 0 ? c.problem.operations() / seconds.median * 1e-9 : 0;
    const double efficiency = seconds.count > 0 ? efficiency_of(c, r.provider, rate / c.ranks()) : 0;
    std::string line =
        fmt::format("{} {:>6} {:10}", is_first ? head_of(c) : std::string(head_of(c).size(), ' '),
                    is_first ? grid : "", r.provider);
    if (seconds.count > 0)
      line += fmt::format(" {:>10} {:6.1f}% {:9.1f}%", three_digits(rate), 100 * seconds.iqr / seconds.median,
                          100 * efficiency);
    if (seconds.count > 0 && r.traffic)
      line += fmt::format(" {:>10} {:>10} {:8.3f}", bytes_or_none(r.traffic->redistributed),
                          bytes_or_none(r.traffic->received), r.traffic->touched / r.traffic->bound);
    const auto trouble = r.status == outcome::mismatch
                             ? fmt::format("WRONG: off by {:.3g}, at most {:.3g} is allowed, in {}",
                                           r.check.error, r.check.bound, r.check.where)
                         : r.status == outcome::verified ? std::string()
                                                         : fmt::format("{}: {}", name(r.status), r.reason);
    output_.print(line + (trouble.empty() ? "" : "  " + trouble) + '\n');
    good_ = good_ && (r.status == outcome::verified || r.status == outcome::unavailable);

    nlohmann::ordered_json row{{"provider", r.provider}};
    row.update(row_of(c));
    row["grid"] = grid;
    row["block"] = c.block;
    row["scaling"] = scaling_;
    row["repetitions"] = seconds.count;
    for (const char* key : {"median_s", "min_s", "iqr_s", "samples_s", "gflops", "efficiency", "traffic",
                            "max_error", "error_bound", "verified"})
      row[key] = nullptr;
    if (seconds.count > 0) {
      row["median_s"] = seconds.median, row["min_s"] = seconds.min, row["iqr_s"] = seconds.iqr;
      row["samples_s"] = r.samples;
      row["gflops"] = rate;
      row["efficiency"] = efficiency;
      row["max_error"] = r.check.error, row["error_bound"] = r.check.bound;
      row["verified"] = r.status == outcome::verified;
    }
    if (const auto& t = r.traffic)
      row["traffic"] = {{"schedule", t->schedule_grid},
                        {"transport", t->transport},
                        {"redistributed_bytes", t->redistributed},
                        {"received_bytes", t->received},
                        {"scheduled_bytes", t->scheduled},
                        {"received_by_all_bytes", t->received_by_all},
                        {"touched_bytes", t->touched},
                        {"bound_bytes", t->bound},
                        {"ratio", t->touched / t->bound},
                        {"memory_bytes", t->memory}};
    if (!trouble.empty()) row["status"] = name(r.status), row["reason"] = trouble;
    output_.add(std::move(row));
  }

  // Over that of the first ranks on which the type and ops were measured; of one size where it stays the same.
  double efficiency_of(const distributed_case& c, const std::string& provider, double rate_of_rank) {
    const auto& g = c.problem;
    auto key = fmt::format("{} {} {}{}", provider, name(g.type), name(g.op_a), name(g.op_b));
    if (scaling_ == "strong") key += fmt::format(" {} {} {}", g.m, g.n, g.k);
    if (scaling_ == "weak" && c.ranks() < ranks_of_last_) first_.clear();  // the next size
    ranks_of_last_ = c.ranks();
    return rate_of_rank / first_.emplace(key, rate_of_rank).first->second;
  }

  run_output output_;
  std::string scaling_;
  std::map<std::string, double> first_;
  int ranks_of_last_ = 0;
  bool good_ = true;
};

// `picture`: the file to draw, if this rank shall draw one.
int run_on_ranks(const distributed_options& options, const std::string& command_line, int& argc, char** argv,
                 std::string& picture) {
  distributed_job job(argc, argv);
  try {
    machine m(argc, argv);
    const auto cases = options.cases(job.size());
    for (const auto& c : cases)
      if (c.ranks() > job.size())
        throw usage_error(fmt::format("{} ranks are asked for, but {} were started: write mpirun -n {}",
                                      c.ranks(), job.size(), c.ranks()));
    distributed_run run{options.provider_names(),
                        options.scalapack,
                        options.repetitions,
                        options.time_limit_s,
                        job.same_on_all(options.seed != 0 ? options.seed : std::random_device{}() | 1u),
                        !options.timeline.empty()};
    const int nodes = job.nodes();
    std::unique_ptr<report_of_ranks> report;
    if (job.rank() == 0) {
      auto context = machine_context(m.device(), {"keramos-perf distributed", command_line, run.seed, {}});
      context["ranks"] = job.size();
      context["nodes"] = nodes;
      context["mpi"] = job.mpi_version();
      context["scaling"] = options.scaling;
      context["scalapack"] = nullptr;
      try {
        context["scalapack"] = scalapack_file(options.scalapack);
      } catch (const unavailable_error&) {  // its rows say so
      }
      context["cublasmp"] = nullptr;
      try {
        if (std::find(run.providers.begin(), run.providers.end(), "cublasmp") != run.providers.end())
          context["cublasmp"] = cublasmp_version();
      } catch (const unavailable_error&) {
      }
      report = std::make_unique<report_of_ranks>(options, std::move(context));
    }
    for (const auto& c : cases) {
      const auto results = job.measure(c, run);
      if (!report) continue;
      report->add(c, results);
      if (!options.plot.empty() && options.timeline.empty()) picture = options.output;
      for (const auto& r : results)
        if (run.timeline && r.provider == "keramos" && report->write_timeline(options.timeline, c, r) &&
            !options.plot.empty())
          picture = options.timeline;
    }
    return int(job.same_on_all(report ? std::uint64_t(report->finish()) : 0));
  } catch (const usage_error& e) {  // on all ranks
    if (job.rank() == 0) std::fprintf(stderr, "keramos-perf: %s\n", e.what());
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "keramos-perf: rank %d: %s\n", job.rank(), e.what());
    job.abort();
  }
}

}  // namespace

void add_distributed_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<distributed_options>();
  auto* distributed =
      app.add_subcommand("distributed", "one product over the ranks of MPI, beside ScaLAPACK and cuBLASMp");
  options->add_to(*distributed);
  distributed->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      options->check();
      std::string line;
      for (int i = 0; i < argc; ++i) line += (i ? " " : "") + std::string(argv[i]);
      if (!options->simulated.empty()) return simulate(*options, line);
      std::string picture;
      const int status = run_on_ranks(*options, line, argc, argv, picture);
      if (!picture.empty()) draw_plot(data_folder(perf_folder), picture, options->plot);  // MPI has ended
      return status;
    };
  });
}

}  // namespace keramos::perf

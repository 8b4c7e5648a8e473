#include "options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>

#include "measure/core/range.hpp"
#include "report/output.hpp"

namespace keramos::perf {
namespace {

const std::vector<data_type> types_over_ranks = {data_type::f32,  data_type::f64,     data_type::c32,
                                                 data_type::c64,  data_type::f16,     data_type::f16_f32,
                                                 data_type::bf16, data_type::bf16_f32};
const std::vector<std::string> all_providers = {"keramos", "scalapack", "cublasmp"};

std::pair<int, int> squarest(int ranks) {
  int rows = int(std::sqrt(double(ranks)));
  while (ranks % rows != 0) --rows;
  return {rows, ranks / rows};
}

}  // namespace

void distributed_options::add_to(CLI::App& app) {
  app.add_option("--type", types, "any of " + names(types_over_ranks))->capture_default_str();
  app.add_option("--op", ops, "op of A, then of B, each N, T or C: NN,NT,CN, say")->capture_default_str();
  app.add_option("--size", sizes, "m = n = k: 512, a list 100,200, or a range 256:4096:*2 (default 1024)");
  app.add_option("--m", m, "rows of C; like --size, with --n and --k");
  app.add_option("--n", n, "columns of C; all combinations of the three are measured");
  app.add_option("--k", k, "the summed extent");
  app.add_option(
         "--scaling", scaling,
         "strong: one product on more and more ranks; weak: sizes are for one rank, and grow with the "
         "cube root of the ranks, so that a rank's work stays")
      ->capture_default_str();
  app.add_option("--ranks", ranks,
                 "on how many ranks: like --size (default: powers of two and all that were started)");
  app.add_option("--grid", grids,
                 "grids that A, B and C are dealt to, instead of --ranks: 1x2,2x2 (default: near square)");
  app.add_option("--block", block, "rows and columns of the blocks that are dealt")->capture_default_str();
  app.add_option("--memory", memory,
                 "bytes that a rank may allocate beside its operands (default: no limit)");
  app.add_option("--provider", providers, fmt::format("any of {}", fmt::join(all_providers, ",")))
      ->capture_default_str();
  app.add_option("--scalapack", scalapack,
                 "a ScaLAPACK library for the MPI of this build (default: the one that is installed)");
  app.add_option("--repetitions", repetitions, "timed repetitions of each case")->capture_default_str();
  app.add_option("--time-limit", time_limit_s,
                 "seconds for one provider's repetitions; 3 are made however long they take")
      ->capture_default_str();
  app.add_option("--alpha", alpha)->capture_default_str();
  app.add_option("--beta", beta)->capture_default_str();
  app.add_option("--seed", seed, "of the random data (default, and 0: a fresh one)");
  auto* on_paper = app.add_option("--simulate", simulated,
                                  "schedule and traffic of so many ranks (up to 10000), without "
                                  "making products: like --ranks")
                       ->group("On paper");
  const auto figure = [&](const char* name, double& value, const char* what) {
    app.add_option(name, value, what)->capture_default_str()->group("On paper")->needs(on_paper);
  };
  figure("--latency", latency_us, "microseconds that a message takes, however short");
  figure("--bandwidth", bandwidth, "GB/s that a rank receives");
  figure("--rate", rate, "GFLOP/s of a rank's own products");
  app.add_option("--format", format, "table, json or csv (default table)");
  app.add_option("--output", output, "write the results to this file, and the table to the terminal");
  app.add_option("--timeline", timeline,
                 "write to this file (JSON) what each rank did, and when, in one more product of Keramos")
      ->excludes(on_paper);
  app.add_option(
         "--plot", plot,
         "draw that, or without --timeline the rates of the file that --output names, as PLOT.png and "
         "PLOT.svg (needs python3-matplotlib)")
      ->excludes(on_paper);
  app.footer(
      "Every result is verified over all ranks: exit status 1 if one is wrong.\n"
      "Examples:\n"
      "  mpirun -n 4 keramos-perf distributed --type f64 --size 4096 --output strong.json\n"
      "  mpirun -n 8 keramos-perf distributed --size 2048 --scaling weak --grid 1x1,2x2,2x4\n"
      "  mpirun -n 4 keramos-perf distributed --type f64 --size 4096 --ranks 4 --timeline t.json --plot t\n"
      "  keramos-perf distributed --simulate 64,1024,10000 --size 65536 --bandwidth 40 --rate 45000");
}

void distributed_options::check() const {
  if (scaling != "strong" && scaling != "weak")
    throw usage_error(fmt::format("scaling '{}' is not known: write --scaling strong or weak", scaling));
  if (!ranks.empty() && !grids.empty())
    throw usage_error("--ranks and --grid both say how many ranks: write one of them");
  if (!std::isfinite(alpha) || !std::isfinite(beta))
    throw usage_error("--alpha and --beta are numbers: write --alpha 1 --beta 0");
  if (block < 1) throw usage_error("--block must be at least 1: write --block 64");
  if (!(memory >= 0) || memory > 9e18) throw usage_error("--memory is a number of bytes: write --memory 4e9");
  if (repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 7");
  if (!(time_limit_s >= 0)) throw usage_error("--time-limit must be seconds: write --time-limit 10");
  if (!(latency_us >= 0 && bandwidth > 0 && rate > 0))
    throw usage_error(
        "--latency, --bandwidth and --rate are positive: write --latency 2 --bandwidth 25 --rate 1000");
  if (!format.empty() && format != "table" && format != "json" && format != "csv")
    throw usage_error(fmt::format("format '{}' is not known: write --format table, json or csv", format));
  const auto chosen = provider_names();
  if (!timeline.empty() &&
      (cases(10000).size() != 1 || std::find(chosen.begin(), chosen.end(), "keramos") == chosen.end()))
    throw usage_error(
        "--timeline is of one product by keramos: write --type f64 --size 4096 --ranks 4, with one value "
        "each");
  if (!plot.empty() && timeline.empty() &&
      (output.empty() || run_output::file_format(format, output) != "json"))
    throw usage_error("--plot draws what a JSON file has: write --timeline t.json or --output results.json");
  check_output_folder(timeline);
  check_output_folder(plot);
  cases(simulated.empty() ? 1 : 10000);
  check_output_file(output);
}

std::vector<std::string> distributed_options::provider_names() const {
  const auto chosen = split_list(providers);
  for (const auto& name : chosen)
    if (std::find(all_providers.begin(), all_providers.end(), name) == all_providers.end())
      throw usage_error(fmt::format("provider '{}' is not known here: write --provider with any of {}", name,
                                    fmt::join(all_providers, ",")));
  return chosen;
}

std::vector<std::pair<int, int>> distributed_options::chosen_grids(int most_ranks) const {
  std::vector<std::pair<int, int>> chosen;
  if (!grids.empty() && simulated.empty()) {
    for (const auto& text : split_list(grids)) {
      int rows = 0, cols = 0;
      const char* const end = text.data() + text.size();
      const auto x = std::from_chars(text.data(), end, rows);
      const auto y = x.ptr < end && *x.ptr == 'x' ? std::from_chars(x.ptr + 1, end, cols) : x;
      if (rows < 1 || cols < 1 || y.ptr != end)
        throw usage_error(
            fmt::format("grid '{}' is not rows x columns of ranks: write --grid 1x2,2x2", text));
      chosen.push_back({rows, cols});
    }
    return chosen;
  }
  std::vector<std::int64_t> counts;
  if (!simulated.empty()) {
    counts = parse_range(simulated, "--simulate");
  } else if (!ranks.empty()) {
    counts = parse_range(ranks, "--ranks");
  } else {
    for (int p = 1; p < most_ranks; p *= 2) counts.push_back(p);
    counts.push_back(most_ranks);
  }
  for (const auto count : counts) {
    if (count > 10000) throw usage_error(fmt::format("{} ranks are too many: write at most 10000", count));
    chosen.push_back(squarest(int(count)));
  }
  return chosen;
}

std::vector<distributed_case> distributed_options::cases(int most_ranks) const {
  struct shape {
    std::int64_t m, n, k;
  };
  std::vector<shape> shapes;
  const int given = !m.empty() + !n.empty() + !k.empty();
  if (given != 0 && given != 3)
    throw usage_error("--m, --n and --k go together: write --m 4096 --n 64 --k 4096, say");
  if (given == 3)
    for (const auto rows : parse_range(m, "--m"))
      for (const auto cols : parse_range(n, "--n"))
        for (const auto sum : parse_range(k, "--k")) shapes.push_back({rows, cols, sum});
  if (!sizes.empty() || given == 0)
    for (const auto s : parse_range(sizes.empty() ? "1024" : sizes, "--size")) shapes.push_back({s, s, s});
  const auto grids_of_all = chosen_grids(most_ranks);
  std::vector<distributed_case> all;
  for (const auto& type : split_list(types))
    for (const auto& op : split_list(ops))
      for (const auto& s : shapes)
        for (const auto& [rows, cols] : grids_of_all) {
          const double grown = scaling == "weak" ? std::cbrt(double(rows) * cols) : 1;
          const auto extent = [&](std::int64_t x) { return std::int64_t(std::llround(double(x) * grown)); };
          const auto pair = parse_ops(op);
          distributed_case c;
          c.problem = {parse_type(type, types_over_ranks),
                       pair.a,
                       pair.b,
                       matrix_layout::left,
                       extent(s.m),
                       extent(s.n),
                       extent(s.k),
                       alpha,
                       beta};
          c.grid_rows = rows, c.grid_cols = cols, c.block = block;
          if (memory > 0) c.memory = std::int64_t(memory);
          if (const double bytes = c.problem.traffic(); bytes > 1e18)
            throw usage_error(fmt::format("{} x {} x {} needs {:.3g} bytes: write smaller sizes", c.problem.m,
                                          c.problem.n, c.problem.k, bytes));
          all.push_back(c);
        }
  return all;
}

}  // namespace keramos::perf

#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "measure/core/range.hpp"
#include "measure/device/machine.hpp"
#include "report/output.hpp"
#include "step.hpp"

namespace keramos::perf {
void ladder_options::add_to(CLI::App& app) {
  app.add_option("--type", types, "any of " + names(ladder_types))->capture_default_str();
  app.add_option("--tile", tiles,
                 "tile widths, any of 8,16,32: a team's early tiles, and how many items it has")
      ->capture_default_str();
  app.add_option(
      "--size", sizes,
      "squares m = n = k: 512, a list 256,512, or a range 256:1024:*2 (default: 4096 on a GPU, 512 "
      "on a host, whose first steps take long)");
  app.add_option("--m", m, "rows of C; like --size, with --n and --k");
  app.add_option("--n", n, "columns of C; all combinations of the three are measured");
  app.add_option("--k", k, "the summed extent");
  app.add_option("--provider", yardsticks,
                 "what stands at the end of the ladder: any of keramos,kokkoskernels,blas,openblas,blis,mkl,"
                 "cublas,cublaslt, and blas=PATH (default: keramos and the device's BLAS)");
  app.add_option("--repetitions", repetitions, "timed repetitions of each step")->capture_default_str();
  app.add_option("--time-limit", time_limit_s,
                 "seconds for one step's repetitions; 3 are made however long they take")
      ->capture_default_str();
  app.add_option("--sets", sets, "copies of the operands used in turn (default: beyond the cache)");
  app.add_option("--seed", seed, "of the random data (default: a fresh one)");
  app.add_flag("--in-process", in_process, "all steps in one process, as on GPUs");
  app.add_flag(
      "--counters", counters,
      "also count the bytes that a call of each step moves, in one more run: by Nsight Compute's ncu on "
      "NVIDIA GPUs, by perf events on Linux hosts");
  app.add_flag("--count-once", count_once)->group("");  // not for people
  app.add_option("--output", output, "write the results to this file, as JSON");
  app.add_option("--plot", plot, "draw them as PLOT.png and PLOT.svg (needs python3-matplotlib)");
  app.footer(
      "Every step is verified. perf/ladder/README.md walks through them.\n"
      "Examples:\n"
      "  keramos-perf ladder --type f32 --tile 8,16,32\n"
      "  keramos-perf ladder --m 200 --n 500 --k 400\n"
      "  keramos-perf ladder --size 1024 --counters\n"
      "  keramos-perf ladder --output ladder.json --plot ladder && keramos-perf roofline ladder.json");
}

void ladder_options::check() const {
  if (repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 5");
  if (sets < 0) throw usage_error("--sets must be at least 1: write --sets 4, or leave it out");
  if (!(time_limit_s >= 0)) throw usage_error("--time-limit must be seconds: write --time-limit 10");
  widths();
  cases(default_device_is_host());
  yardstick_choices(default_device_is_host());
  check_output_file(output);
  check_output_folder(plot);
}

std::vector<data_type> ladder_options::parsed_types() const {
  std::vector<data_type> parsed;
  for (const auto& text : split_list(types)) parsed.push_back(parse_type(text, ladder_types));
  return parsed;
}

std::vector<int> ladder_options::widths() const {
  std::vector<int> parsed;
  for (const auto& text : split_list(tiles)) {
    const auto at = std::find_if(std::begin(ladder_widths), std::end(ladder_widths),
                                 [&](int w) { return std::to_string(w) == text; });
    if (at == std::end(ladder_widths)) {
      throw usage_error(
          fmt::format("tile width '{}' is not compiled in: write --tile with any of 8,16,32", text));
    }
    parsed.push_back(*at);
  }
  return parsed;
}

std::vector<gemm_case> ladder_options::cases(bool device_is_host) const {
  const int given = !m.empty() + !n.empty() + !k.empty();
  if (given != 0 && given != 3) {
    throw usage_error("--m, --n and --k go together: write --m 200 --n 500 --k 400, say");
  }
  std::vector<gemm_shape> shapes;
  if (given == 3) {
    for (const auto rows : parse_range(m, "--m")) {
      for (const auto cols : parse_range(n, "--n")) {
        for (const auto sum : parse_range(k, "--k")) shapes.push_back({{}, rows, cols, sum, {}});
      }
    }
  }
  if (!sizes.empty() || given == 0) {
    const char* const default_size = device_is_host ? "512" : "4096";
    for (const auto s : parse_range(sizes.empty() ? default_size : sizes, "--size")) {
      shapes.push_back({{}, s, s, s, {}});
    }
  }
  std::vector<gemm_case> all;
  for (const auto type : parsed_types()) {
    for (const auto& s : shapes) {
      gemm_case g;
      g.type = type;
      g.m = s.m, g.n = s.n, g.k = s.k;
      all.push_back(g);
    }
  }
  return all;
}

std::vector<provider_choice> ladder_options::choices(bool device_is_host) const {
  std::vector<provider_choice> all;
  for (const int width : widths()) {
    std::set<std::string> listed;  // types have most steps in common
    for (const auto type : parsed_types()) {
      for (const auto& step : ladder_steps(type, width)) {
        const auto name = ladder_provider_name(width, step);
        if (listed.insert(name).second) all.push_back({name, "", false, false, true});
      }
    }
  }
  for (const auto& c : yardstick_choices(device_is_host)) all.push_back(c);
  return all;
}

std::vector<provider_choice> ladder_options::yardstick_choices(bool device_is_host) const {
  const auto names = yardsticks.empty()
                         ? std::vector<std::string>{"keramos", device_is_host ? "blas" : "cublas"}
                         : split_list(yardsticks);
  auto choices = choose_providers(names, {}, device_is_host);
  // By default a word is enough where there is no vendor.
  for (auto& c : choices) c.asked_for = c.asked_for && !yardsticks.empty();
  return choices;
}

}  // namespace keramos::perf

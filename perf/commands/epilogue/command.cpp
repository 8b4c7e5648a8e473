#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/gemm/engine.hpp"
#include "measure/core/json.hpp"
#include "measure/core/problem.hpp"
#include "measure/core/range.hpp"
#include "measure/core/statistics.hpp"
#include "measure/device/machine.hpp"
#include "products.hpp"
#include "report/context.hpp"
#include "report/output.hpp"

namespace keramos::perf {
namespace {

struct epilogue_options {
  std::string types = "f32,f64";
  std::string sizes = "1024,4096";
  int repetitions = 11;
  std::string output;
};

std::vector<data_type> types_of(const std::string& text) {
  std::vector<data_type> types;
  for (const auto& name : split_list(text)) types.push_back(parse_type(name, epilogue_types));
  return types;
}

// Of repetitions beside each other, since clocks drift more than the ways differ.
summary ratio_of(const timed_subject& over, const timed_subject& under) {
  std::vector<double> ratios(over.seconds);
  for (std::size_t r = 0; r < ratios.size(); ++r) ratios[r] /= under.seconds[r];
  return summarize(ratios);
}

nlohmann::ordered_json measure(data_type type, std::int64_t n, int repetitions) {
  const auto products = make_epilogue_products(type, n);
  std::vector<timed_subject> subjects(3);
  subjects[0].name = "product", subjects[0].run = products.product;
  subjects[1].name = "fused", subjects[1].run = products.fused;
  subjects[2].name = "separate", subjects[2].run = products.separate;
  const double once = products.product(1);
  for (auto& s : subjects) {
    s.calls = std::max<std::int64_t>(1, std::int64_t(0.02 / once)), s.repetitions = repetitions;
    s.before = [](int) {};
    s.run(1);
  }
  time_interleaved(subjects);
  for (const auto& s : subjects)
    if (!s.failure.empty()) throw std::runtime_error(s.failure);
  const auto product = summarize(subjects[0].seconds), fused = summarize(subjects[1].seconds),
             separate = summarize(subjects[2].seconds);
  const auto cost = ratio_of(subjects[1], subjects[0]), gain = ratio_of(subjects[2], subjects[1]);
  fmt::print("{:7} {:6} {:12.4f} {:12.4f} {:12.4f} {:8.2f} {:8.2f} {:8.3f} {:8.3f}  {}\n", name(type), n,
             product.median * 1e3, fused.median * 1e3, separate.median * 1e3, 100 * (cost.median - 1),
             100 * cost.iqr, gain.median, gain.iqr, products.epilogue);
  return {{"type", name(type)},
          {"epilogue", products.epilogue},
          {"n", n},
          {"product_s", product.median},
          {"fused_s", fused.median},
          {"separate_s", separate.median},
          {"fused_over_product", cost.median},
          {"fused_over_product_iqr", cost.iqr},
          {"separate_over_fused", gain.median},
          {"separate_over_fused_iqr", gain.iqr}};
}

int run_epilogue(const epilogue_options& options, int& argc, char** argv) {
  if (options.repetitions < 1) throw usage_error("--repetitions must be at least 1: write --repetitions 11");
  const auto types = types_of(options.types);
  const auto sizes = parse_range(options.sizes, "--size");
  check_output_file(options.output);
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i ? " " : "") + std::string(argv[i]);
  machine m(argc, argv);
  nlohmann::ordered_json document;
  document["schema"] = "keramos-perf-epilogue/1";
  document["context"] = machine_context(m.device(), {"keramos-perf epilogue", line, 0, {}});
  fmt::print("{} on {}, Kokkos {}: C = epilogue(A·B), n x n, medians of {} repetitions\n\n",
             m.device().backend, m.device().name, m.device().kokkos_version, options.repetitions);
  fmt::print("{:7} {:>6} {:>12} {:>12} {:>12} {:>8} {:>8} {:>8} {:>8}  {}\n", "type", "n", "A·B ms ",
             "fused ms", "separate ms", "cost %", "iqr", "gain x", "iqr", "epilogue");
  for (const auto type : types)
    for (const auto n : sizes) document["results"].push_back(measure(type, n, options.repetitions));
  if (!options.output.empty()) replace_file(options.output, to_text(document, 2) + '\n');
  return 0;
}

}  // namespace

void add_epilogue_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<epilogue_options>();
  auto* epilogue = app.add_subcommand(
      "epilogue",
      "what bias and GELU (or what the type has) cost in a product's kernel, and what in one of their own");
  epilogue->add_option("--type", options->types, "element types: any of " + names(epilogue_types))
      ->capture_default_str();
  epilogue->add_option("--size", options->sizes, "n of n x n matrices: 512 or 512,1000 or 64:1024:*2")
      ->capture_default_str();
  epilogue->add_option("--repetitions", options->repetitions, "timed repetitions")->capture_default_str();
  epilogue->add_option("--output", options->output, "write JSON to this file");
  epilogue->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] { return run_epilogue(*options, argc, argv); };
  });
}

}  // namespace keramos::perf

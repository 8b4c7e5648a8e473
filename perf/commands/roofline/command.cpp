#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "measure/core/host.hpp"
#include "measure/core/json.hpp"
#include "measure/device/ceilings.hpp"
#include "measure/device/machine.hpp"
#include "model.hpp"
#include "report/output.hpp"
#include "report/plot.hpp"
#include "report/read.hpp"

namespace keramos::perf {
namespace {

struct roofline_options {
  std::string results, spec, output, save_spec, plot;
  std::string format = "table";

  void add_to(CLI::App& app) {
    app.add_option(
        "results", results,
        "a results file of keramos-perf ladder, gemm, batched or kernels (--output); without one, only the "
        "ceilings");
    app.add_option(
        "--device-spec", spec,
        "ceilings on paper: a name in perf/data/specs (a100-sxm4-40gb, h200-sxm5, ...) or a file; without "
        "it they are measured on the machine at hand, which takes some seconds");
    app.add_option("--save-spec", save_spec, "write the ceilings to this file, for --device-spec");
    app.add_option("--output", output, "write ceilings and kernels to this file, as JSON");
    app.add_option("--plot", plot, "draw them as PLOT.png and PLOT.svg (needs python3-matplotlib)");
    app.add_option("--format", format, "table or json")->capture_default_str();
    app.footer(
        "OP/B mem.: operations a byte if memory brings each operand once; OP/B L1: a byte that the kernel's\n"
        "items ask for, where the file tells. The bound is the lowest of the roofs at these; met, the part "
        "of\n"
        "it that the kernel reaches.\n"
        "Examples:\n"
        "  keramos-perf roofline\n"
        "  keramos-perf ladder --output ladder.json && keramos-perf roofline ladder.json --plot roofline\n"
        "  keramos-perf roofline ladder.json --device-spec a100-sxm4-40gb");
  }

  void check() const {
    if (format != "table" && format != "json") {
      throw usage_error(fmt::format("format '{}' is not known: write --format table or json", format));
    }
    check_output_file(output);
    check_output_folder(save_spec);
    check_output_folder(plot);
  }
};

int run(const roofline_options& options, int& argc, char** argv) {
  options.check();
  std::vector<roofline_kernel> kernels;
  nlohmann::ordered_json context;  // of the results
  std::string device;
  int left_out = 0;
  if (!options.results.empty()) {
    const auto document = read_json(options.results);
    const auto file = results_of(document, options.results);
    context = file.context;
    device = file.text("device");
    kernels = reading(options.results, [&] { return kernels_of(document, options.results, left_out); });
  }
  device_spec spec;
  if (options.spec.empty()) {
    const machine here(argc, argv);
    if (!device.empty() && device != here.device().name) {
      throw usage_error(
          fmt::format("{} was measured on {}, and this is {}: write --device-spec with a name in "
                      "perf/data/specs or a file that roofline --save-spec wrote there",
                      options.results, device, here.device().name));
    }
    nlohmann::ordered_json own;
    for (const auto& [key, value] : device_identity()) own["device_identity"][key] = value;
    if (const auto what = device_difference(context, own); !what.empty()) {
      throw usage_error(
          fmt::format("{} was measured on another device called {}: {}: write --device-spec with a file that "
                      "roofline --save-spec wrote there",
                      options.results, device, what));
    }
    spec = measure_ceilings(here.device());
  } else {
    spec = read_device_spec(options.spec, data_folder(perf_folder) + "/data/specs");
  }
  const auto document = roofline_document(kernels, spec);
  if (options.format == "json") {
    fmt::print("{}\n", to_text(document, 2));
  } else {
    fmt::print("{}", ceilings_text(spec));
    if (!kernels.empty()) fmt::print("{}", places_text(kernels, spec));
    if (!kernels.empty() && !device.empty()) fmt::print("\nthe kernels were measured on {}\n", device);
    if (left_out > 0)
      fmt::print("{} rows have no known traffic, or are of several ranks, and are left out\n", left_out);
  }
  if (!options.save_spec.empty()) replace_file(options.save_spec, to_text(to_json(spec), 2) + '\n');
  if (!options.output.empty()) replace_file(options.output, to_text(document, 2) + '\n');
  if (!options.plot.empty()) {
    const auto file = options.plot + ".roofline.json";
    replace_file(file, to_text(document, 2) + '\n');
    draw_plot(data_folder(perf_folder), file, options.plot);
    std::filesystem::remove(file);
  }
  return 0;
}

}  // namespace

void add_roofline_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<roofline_options>();
  auto* roofline = app.add_subcommand(
      "roofline",
      "The machine's ceilings, measured or on paper, and where every kernel of a results file stands");
  options->add_to(*roofline);
  roofline->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] { return run(*options, argc, argv); };
  });
}

}  // namespace keramos::perf

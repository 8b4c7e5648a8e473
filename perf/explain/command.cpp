#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "build_info.hpp"
#include "device/machine.hpp"
#include "options.hpp"
#include "text.hpp"

namespace keramos::perf {
namespace {

// On paper nothing of the machine is touched; Kokkos is not even started.
class explain_session {
 public:
  explain_session(const explain_options& options, int& argc, char** argv) : options_(options) {
    if (!options.spec.empty()) spec_ = read_device_spec(options.spec, std::string(perf_folder) + "/specs");
    if (!options.on_machine()) return;
    machine_.emplace(argc, argv);
    unit_ = device_unit_limits();
    problem_ = options.problem();
    library_ = library_kernel_for(problem_);
  }

  int run() {
    const auto tile = options_.tile_of();
    const auto figures = figures_of(tile);
    if (!library_) unit_ = options_.limits(spec_ ? spec_->unit : unit_limits());
    const bool has_units = !(machine_ && machine_->device().is_host) && (!spec_ || spec_->kind == "gpu");
    const auto occupancy = occupancy_of({figures.threads, options_.registers, figures.scratch_bytes}, unit_);
    if (options_.format == "json") {
      fmt::print("{}\n", document(tile, figures, has_units ? &occupancy : nullptr).dump(2));
      return 0;
    }
    if (machine_) fmt::print("{} on {}\n", machine_->device().backend, machine_->device().name);
    if (library_) fmt::print("{}\n", library_text(problem_, *library_, unit_));
    fmt::print("{}", tile_text(tile, figures));
    if (has_units) fmt::print("{}", occupancy_text(occupancy, unit_));
    if (!has_units) fmt::print("a team is one thread of the host: one is active on each core\n");
    if (spec_) fmt::print("{}", roofline_text(tile, figures, *spec_));
    return 0;
  }

 private:
  nlohmann::ordered_json document(const tile_description& tile, const tile_figures& figures,
                                  const occupancy_result* occupancy) const {
    nlohmann::ordered_json out;
    out["schema"] = "keramos-perf-explain/1";
    if (machine_) out["device"] = machine_->device().name;
    if (spec_) out["device"] = spec_->name;
    out["tile"] = to_json(tile, figures);
    if (occupancy != nullptr) out["occupancy"] = to_json(*occupancy);
    if (library_) out["library"] = to_json(problem_, *library_);
    return out;
  }

  const explain_options& options_;
  std::optional<device_spec> spec_;
  std::optional<machine> machine_;
  unit_limits unit_;
  gemm_case problem_;
  std::optional<library_kernel> library_;
};

}  // namespace

void add_explain_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<explain_options>();
  auto* explain = app.add_subcommand(
      "explain",
      "The arithmetic of a tile, how many teams a multiprocessor holds and what limits them, and "
      "what the library's compiled kernel really needs");
  options->add_to(*explain);
  explain->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      options->check();
      return explain_session(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf

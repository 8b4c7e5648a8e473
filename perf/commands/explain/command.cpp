#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "build_info.hpp"
#include "measure/core/host.hpp"
#include "measure/device/machine.hpp"
#include "options.hpp"
#include "text.hpp"

namespace keramos::perf {
namespace {

// On paper nothing of the machine is touched; Kokkos is not even started.
class explain_session {
 public:
  explain_session(const explain_options& options, int& argc, char** argv) : options_(options) {
    if (!options.spec.empty())
      spec_ = read_device_spec(options.spec, data_folder(perf_folder) + "/data/specs");
    if (!options.on_machine()) return;
    machine_.emplace(argc, argv);
    unit_ = device_unit_limits();
    problem_ = options.problem();
    library_ = library_plan_for(problem_);
  }

  int run() {
    if (!library_) unit_ = options_.limits(spec_ ? spec_->unit : unit_limits());
    const auto tile = explained_tile();
    const bool has_units = !(machine_ && machine_->device().is_host) && (!spec_ || spec_->kind == "gpu");
    std::optional<tile_figures> figures;
    std::optional<occupancy_result> occupancy;
    if (tile) {
      figures = figures_of(*tile);
      // Of the library's tile what the plan asks for, which is more than the elements take.
      const auto scratch = tile->team > 0 ? tiled_part()->scratch_bytes : figures->scratch_bytes;
      if (has_units) occupancy = occupancy_of({figures->threads, options_.registers, scratch}, unit_);
    }
    if (options_.format == "json") {
      fmt::print("{}\n", document(tile, figures, occupancy).dump(2));
      return 0;
    }
    if (machine_) fmt::print("{} on {}\n", machine_->device().backend, machine_->device().name);
    if (library_) fmt::print("{}\n", library_text(problem_, *library_, options_.registers));
    if (tile) fmt::print("{}", tile_text(*tile, *figures));
    if (occupancy) fmt::print("{}", occupancy_text(*occupancy, unit_));
    if (!has_units) fmt::print("a team is one thread of the host: one is active on each core\n");
    if (spec_) fmt::print("{}", roofline_text(*tile, *figures, *spec_));
    return 0;
  }

 private:
  // The first part of the plan that is computed in tiles; null if there is none.
  const planned_part* tiled_part() const {
    if (!library_) return nullptr;
    const auto at = std::find_if(library_->parts.begin(), library_->parts.end(),
                                 [](const planned_part& part) { return part.is_tiled(); });
    return at == library_->parts.end() ? nullptr : &*at;
  }

  // The tile that was given, or the plan's; none where the plan has none.
  std::optional<tile_description> explained_tile() const {
    if (options_.has_tile() || !library_) return options_.tile_of();
    const planned_part* const part = tiled_part();
    if (part == nullptr) return std::nullopt;
    return tile_description{problem_.type, part->block.m, part->block.n, part->block.k, 1, 1,
                            part->stages,  part->threads};
  }

  nlohmann::ordered_json document(const std::optional<tile_description>& tile,
                                  const std::optional<tile_figures>& figures,
                                  const std::optional<occupancy_result>& occupancy) const {
    nlohmann::ordered_json out;
    out["schema"] = "keramos-perf-explain/2";
    if (machine_) out["device"] = machine_->device().name;
    if (spec_) out["device"] = spec_->name;
    if (tile) out["tile"] = to_json(*tile, *figures);
    if (occupancy) out["occupancy"] = to_json(*occupancy);
    if (library_) out["library"] = to_json(problem_, *library_);
    return out;
  }

  const explain_options& options_;
  std::optional<device_spec> spec_;
  std::optional<machine> machine_;
  unit_limits unit_;
  gemm_case problem_;
  std::optional<library_plan> library_;
};

}  // namespace

void add_explain_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto options = std::make_shared<explain_options>();
  auto* explain = app.add_subcommand(
      "explain",
      "The arithmetic of a tile, how many teams a multiprocessor holds and what limits them, and "
      "how the library would do a product on this machine");
  options->add_to(*explain);
  explain->callback([options, &command, &argc, argv] {
    command = [options, &argc, argv] {
      options->check();
      return explain_session(*options, argc, argv).run();
    };
  });
}

}  // namespace keramos::perf

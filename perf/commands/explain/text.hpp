// What keramos-perf explain prints.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "measure/core/device_spec.hpp"
#include "measure/device/library_plan.hpp"
#include "occupancy.hpp"
#include "tile_model.hpp"

namespace keramos::perf {

std::string tile_text(const tile_description& tile, const tile_figures& figures);
std::string occupancy_text(const occupancy_result& occupancy, const unit_limits& unit);
// Where the tile meets the device's ceilings, if its traffic came from memory.
std::string roofline_text(const tile_description& tile, const tile_figures& figures, const device_spec& spec);
// The library's plan; registers of a thread where they are known, else 0.
std::string library_text(const gemm_case& g, const library_plan& plan, std::int64_t registers);

nlohmann::ordered_json to_json(const tile_description& tile, const tile_figures& figures);
nlohmann::ordered_json to_json(const occupancy_result& occupancy);
nlohmann::ordered_json to_json(const gemm_case& g, const library_plan& plan);

}  // namespace keramos::perf

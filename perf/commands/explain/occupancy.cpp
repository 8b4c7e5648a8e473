#include "occupancy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace keramos::perf {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit * unit; }

std::string impossible(const team_needs& team, const unit_limits& unit) {
  if (unit.threads_of_a_team && team.threads > *unit.threads_of_a_team) {
    return fmt::format("a team of {} threads is larger than the {} that a team may have", team.threads,
                       *unit.threads_of_a_team);
  }
  if (unit.registers_of_a_thread && team.registers > *unit.registers_of_a_thread) {
    return fmt::format("{} registers a thread are more than the {} that a thread may have", team.registers,
                       *unit.registers_of_a_thread);
  }
  return {};
}

}  // namespace

occupancy_result occupancy_of(const team_needs& team, const unit_limits& unit) {
  occupancy_result result;
  result.impossible = impossible(team, unit);
  const auto warps = rounded_up(team.threads, unit.warp) / unit.warp;
  const auto add = [&](const char* resource, std::int64_t available, std::int64_t of_a_team,
                       std::int64_t teams) {
    result.limits.push_back({resource, available, of_a_team, teams});
  };
  if (unit.threads) add("threads", *unit.threads, warps * unit.warp, *unit.threads / (warps * unit.warp));
  if (unit.teams) add("teams", *unit.teams, 1, *unit.teams);
  if (unit.registers && team.registers > 0) {
    // A warp's registers lie in one of the banks, so what is left over in each is lost.
    const auto of_a_warp = rounded_up(team.registers * unit.warp, unit.register_granularity);
    const auto warps_held = *unit.registers / unit.register_banks / of_a_warp * unit.register_banks;
    add("registers", *unit.registers, of_a_warp * warps, warps_held / warps);
  }
  if (unit.scratch_bytes && team.scratch_bytes > 0) {
    const auto bytes =
        rounded_up(team.scratch_bytes + unit.scratch_reserved_of_a_team, unit.scratch_granularity);
    add("scratch", *unit.scratch_bytes, bytes, *unit.scratch_bytes / bytes);
  }
  if (result.limits.empty() || !result.impossible.empty()) return result;

  result.teams =
      std::min_element(result.limits.begin(), result.limits.end(), [](const auto& a, const auto& b) {
        return a.teams < b.teams;
      })->teams;
  for (const auto& l : result.limits) {
    if (l.teams == result.teams) result.limited_by += (result.limited_by.empty() ? "" : " and ") + l.resource;
  }
  if (result.teams == 0) result.impossible = "a team needs more " + result.limited_by + " than a unit has";
  if (unit.threads) {
    result.occupancy = double(result.teams * warps * unit.warp) / double(*unit.threads);
  }
  return result;
}

}  // namespace keramos::perf

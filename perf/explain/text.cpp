#include "text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

// 1234567 -> "1,234,567"
std::string grouped(std::int64_t value) {
  auto text = std::to_string(value);
  for (auto at = std::ssize(text) - 3; at > 0; at -= 3) text.insert(std::size_t(at), 1, ',');
  return text;
}

std::string line(const std::string& what, const std::string& value, const std::string& note) {
  return fmt::format("  {:30}{:>12}{}\n", what, value, note.empty() ? "" : "   " + note);
}

const char* operation(data_type type) { return is_integer(type) ? "OP" : "FLOP"; }

std::string launch_text(const launch_figures& f, const unit_limits& unit) {
  auto text = fmt::format("  launch of {} teams of {} threads{}\n", grouped(f.teams), f.threads,
                          f.name.empty() ? "" : ": " + f.name);
  text += line("registers a thread", grouped(f.registers), "");
  text += line("spilled bytes a thread", grouped(f.spill_bytes), "");
  text += line("local memory a team", grouped(f.scratch_bytes), "B, Kokkos' own share included");
  const auto model = occupancy_of({f.threads, f.registers, f.scratch_bytes}, unit);
  text += line("active teams", grouped(f.active_teams),
               fmt::format("by the runtime's account; by arithmetic {}, limited by {}", model.teams,
                           model.limited_by));
  return text;
}

}  // namespace

std::string tile_text(const tile_description& t, const tile_figures& f) {
  const char* const op = operation(t.type);
  const int each = operations_of_multiply_add(t.type);
  auto text = fmt::format(
      "block tile {}x{}x{} of {}, {} threads a team, {} of C a thread\n\n", t.m, t.n, t.k, name(t.type),
      f.threads,
      t.thread_m * t.thread_n == 1 ? "one element" : fmt::format("{}x{} elements", t.thread_m, t.thread_n));
  text += "arithmetic intensity\n";
  text += line(fmt::format("naive, {}/B", op), fmt::format("{:g}", f.naive_intensity),
               fmt::format("{} operations for 2 operands of {} bytes", each, size_of_ab(t.type)));
  text += line(fmt::format("tiled, {}/B", op), fmt::format("{:g}", f.intensity), "");
  text += line("global traffic is reduced by", fmt::format("{:g}", f.reduction), "");
  text += "one phase, a k-tile\n";
  text += line("loads from global memory", grouped(f.loads),
               fmt::format("{}x{} of A and {}x{} of B", t.m, t.k, t.k, t.n));
  text += line("operations", grouped(f.operations), fmt::format("{} x {} x {} x {}", each, t.m, t.n, t.k));
  text += line("local memory a team", grouped(f.scratch_bytes),
               fmt::format("B for {} k-tile{}", t.stages, t.stages > 1 ? "s" : ""));
  return text;
}

std::string occupancy_text(const occupancy_result& o, const unit_limits& unit) {
  std::string text = "teams that one multiprocessor holds\n";
  if (!o.impossible.empty()) text += "  none: " + o.impossible + "\n";
  for (const auto& l : o.limits) {
    text += line(l.resource == "teams" ? "as many as it holds" : "by " + l.resource, grouped(l.teams),
                 l.resource == "teams"
                     ? ""
                     : fmt::format("{} / {} a team{}", grouped(l.available), grouped(l.of_a_team),
                                   l.resource == "scratch" ? ", bytes" : ""));
  }
  if (o.limits.empty()) return text + "  nothing is known that would limit them\n";
  if (!o.impossible.empty()) return text;
  text += line("active teams", grouped(o.teams), "limited by " + o.limited_by);
  if (unit.threads) {
    text += line("occupancy", fmt::format("{:.0f} %", 100 * o.occupancy), "of the threads it could hold");
  }
  return text;
}

std::string roofline_text(const tile_description& t, const tile_figures& f, const device_spec& spec) {
  const std::string type(name(multiplied_type(t.type)));
  const double bandwidth = rate_of(spec.bandwidth_gbs, "memory"), vector = rate_of(spec.peak_gflops, type);
  // Of f16 and bf16 matrix units are all that specs tell of.
  const double peak = vector > 0 ? vector : rate_of(spec.matrix_peak_gflops, type);
  auto text = fmt::format("on {}\n", spec.name);
  const char* const op = operation(t.type);
  const auto rate = [&](const char* what, double intensity) {
    const double met = intensity * bandwidth;
    text += line(
        what, fmt::format("{:.0f}", peak > 0 ? std::min(met, peak) : met),
        fmt::format("G{}/s at most, if all of it came from memory{}", op,
                    peak > 0 ? fmt::format(": {:.1f} % of the peak", 100 * std::min(1.0, met / peak)) : ""));
  };
  rate("naive", f.naive_intensity);
  rate("tiled", f.intensity);
  if (peak > 0) {
    text += line(fmt::format("ridge point, {}/B", op), fmt::format("{:.1f}", peak / bandwidth),
                 fmt::format("{:g} G{}/s over {:g} GB/s", peak, op, bandwidth));
  }
  return text;
}

std::string library_text(const gemm_case& g, const library_kernel& k, const unit_limits& unit) {
  auto text = fmt::format("keramos::gemm, {} {}{}, m x n x k = {} x {} x {}\n", name(g.type), name(g.op_a),
                          name(g.op_b), g.m, g.n, g.k);
  if (!k.micro_kernel.empty()) text += line("instruction set, register tile", "", k.micro_kernel);
  for (const planned_part& part : k.plan) {
    text += "  " + part.text + "\n";
    if (part.scratch_bytes == 0) continue;
    text += line("local memory a team", grouped(part.scratch_bytes), "B asked for, at most");
    text += line("threads a team", grouped(part.threads), "");
  }
  for (const auto& launch : k.launches) text += launch_text(launch, unit);
  return text;
}

json to_json(const tile_description& t, const tile_figures& f) {
  json out;
  out["type"] = name(t.type);
  out["tile"] = {t.m, t.n, t.k};
  out["thread_tile"] = {t.thread_m, t.thread_n};
  out["stages"] = t.stages;
  out["threads_of_a_team"] = f.threads;
  out["loads_of_a_phase"] = f.loads;
  out["operations_of_a_phase"] = f.operations;
  out["scratch_bytes"] = f.scratch_bytes;
  out["naive_intensity"] = f.naive_intensity;
  out["intensity"] = f.intensity;
  out["reduction"] = f.reduction;
  return out;
}

json to_json(const occupancy_result& o) {
  json out;
  out["active_teams"] = o.teams;
  out["limited_by"] = o.limited_by;
  out["occupancy"] = o.occupancy;
  for (const auto& l : o.limits) out["teams_by"][l.resource] = l.teams;
  if (!o.impossible.empty()) out["impossible"] = o.impossible;
  return out;
}

json to_json(const gemm_case& g, const library_kernel& k) {
  json out;
  out["op"] = fmt::format("{}{}", name(g.op_a), name(g.op_b));
  out["m"] = g.m, out["n"] = g.n, out["k"] = g.k;
  out["micro_kernel"] = k.micro_kernel;
  out["plan"] = json::array();
  for (const planned_part& part : k.plan) {
    out["plan"].push_back({{"m", part.m},
                           {"n", part.n},
                           {"path", part.path},
                           {"tile", part.tile},
                           {"parts_of_k", part.parts_of_k},
                           {"scratch_bytes", part.scratch_bytes},
                           {"threads_of_a_team", part.threads}});
  }
  out["launches"] = json::array();
  for (const auto& f : k.launches) {
    out["launches"].push_back({{"teams", f.teams},
                               {"threads_of_a_team", f.threads},
                               {"registers_of_a_thread", f.registers},
                               {"scratch_bytes", f.scratch_bytes},
                               {"spill_bytes", f.spill_bytes},
                               {"active_teams", f.active_teams}});
  }
  return out;
}

}  // namespace keramos::perf

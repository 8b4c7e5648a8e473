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

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

std::string model_text(const modelled_time& time) {
  std::string note =
      "by the model that chose it: without them " + percent(time.savings.front().share) + " less time";
  for (std::size_t i = 1; i < time.savings.size(); ++i) {
    note += fmt::format(", without {} {}", time.savings[i].without, percent(time.savings[i].share));
  }
  return line("limited by", time.savings.front().without, note);
}

std::string part_text(const planned_part& part, std::int64_t registers) {
  auto text = "  " + part.text + "\n";
  text += line("teams", grouped(part.teams),
               fmt::format("of {} thread{}", part.threads, part.threads == 1 ? "" : "s"));
  if (!part.unit.empty()) text += line("multiplied by", "", part.unit);
  if (part.scratch_bytes > 0)
    text += line("local memory a team", grouped(part.scratch_bytes), "B asked for, at most");
  if (part.teams_of_registers > 0) {
    text += line("registers a thread", registers > 0 ? grouped(registers) : "?",
                 fmt::format("compiled so that {} team{} fit a multiprocessor{}", part.teams_of_registers,
                             part.teams_of_registers == 1 ? "" : "s",
                             registers > 0 ? "" : "; how many, ptxas -v tells: --registers takes them"));
  }
  if (part.model) text += model_text(*part.model);
  return text;
}

}  // namespace

std::string tile_text(const tile_description& t, const tile_figures& f) {
  const char* const op = operation(t.type);
  const int each = operations_of_multiply_add(t.type);
  auto text = fmt::format("block tile {}x{}x{} of {}, {} thread{} a team{}\n\n", t.m, t.n, t.k, name(t.type),
                          f.threads, f.threads == 1 ? "" : "s",
                          t.team > 0 ? ""
                          : t.thread_m * t.thread_n == 1
                              ? ", one element of C a thread"
                              : fmt::format(", {}x{} elements of C a thread", t.thread_m, t.thread_n));
  text += "arithmetic intensity\n";
  text +=
      line(fmt::format("naive, {}/B", op), fmt::format("{:g}", f.naive_intensity),
           fmt::format("{} operations for {} bytes of A and B", each, size_of_a(t.type) + size_of_b(t.type)));
  text += line(fmt::format("tiled, {}/B", op), fmt::format("{:g}", f.intensity), "");
  text += line("global traffic is reduced by", fmt::format("{:g}", f.reduction), "");
  text += "one phase, a k-tile\n";
  text += line("loads from global memory", grouped(f.loads),
               fmt::format("{}x{} of A and {}x{} of B", t.m, t.k, t.k, t.n));
  text += line("operations", grouped(f.operations), fmt::format("{} x {} x {} x {}", each, t.m, t.n, t.k));
  if (t.team > 0) return text;  // of the library's tiles the plan tells it
  return text + line("local memory a team", grouped(f.scratch_bytes),
                     fmt::format("B for {} k-tile{}", t.stages, t.stages > 1 ? "s" : ""));
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

std::string library_text(const gemm_case& g, const library_plan& plan, std::int64_t registers) {
  auto text =
      fmt::format("keramos::gemm, {} {}{}, m x n x k = {} x {} x {}{}\n", name(g.type), name(g.op_a),
                  name(g.op_b), g.m, g.n, g.k, plan.type == name(g.type) ? "" : ", computed as " + plan.type);
  if (!plan.micro_kernel.empty()) text += line("instruction set, register tile", "", plan.micro_kernel);
  for (const planned_part& part : plan.parts) text += part_text(part, registers);
  return text;
}

json to_json(const tile_description& t, const tile_figures& f) {
  json out;
  out["type"] = name(t.type);
  out["tile"] = {t.m, t.n, t.k};
  if (t.team == 0) out["thread_tile"] = {t.thread_m, t.thread_n};
  out["stages"] = t.stages;
  out["threads_of_a_team"] = f.threads;
  out["loads_of_a_phase"] = f.loads;
  out["operations_of_a_phase"] = f.operations;
  if (t.team == 0) out["scratch_bytes"] = f.scratch_bytes;
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

json to_json(const gemm_case& g, const library_plan& plan) {
  json out;
  out["op"] = fmt::format("{}{}", name(g.op_a), name(g.op_b));
  out["m"] = g.m, out["n"] = g.n, out["k"] = g.k;
  out["computed_as"] = plan.type;
  out["micro_kernel"] = plan.micro_kernel;
  out["plan"] = json::array();
  for (const planned_part& part : plan.parts) {
    json of_part{{"m", part.m},
                 {"n", part.n},
                 {"path", part.path},
                 {"tile", {part.block.m, part.block.n, part.block.k}},
                 {"stages", part.stages},
                 {"parts_of_k", part.parts_of_k},
                 {"whole_tiles", part.whole_tiles},
                 {"left_out", {part.corner_m, part.corner_n}},
                 {"teams", part.teams},
                 {"threads_of_a_team", part.threads},
                 {"scratch_bytes", part.scratch_bytes}};
    if (!part.unit.empty()) of_part["unit"] = part.unit;
    if (part.teams_of_registers > 0) of_part["teams_of_registers"] = part.teams_of_registers;
    if (part.model) {
      of_part["model"]["cycles"] = part.model->cycles;
      of_part["model"]["limited_by"] = part.model->savings.front().without;
      for (const auto& saving : part.model->savings)
        of_part["model"]["saved_without"][saving.without] = saving.share;
    }
    out["plan"].push_back(of_part);
  }
  return out;
}

}  // namespace keramos::perf

#include "context.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "build_info.hpp"
#include "git_revision.hpp"
#include "measure/core/host.hpp"
#include "measure/core/parallel.hpp"
#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

json describe(const target_slot& slot) {
  json p;
  if (!slot.target) {
    p["status"] = "unavailable";
    p["reason"] = slot.problem;
    return p;
  }
  const auto info = slot.target->info();
  p["status"] = "available";
  p["version"] = info.version;
  p["threads"] = nullptr;
  if (info.threads > 0) p["threads"] = info.threads;
  p["libraries"] = info.libraries;
  return p;
}

}  // namespace

json machine_context(const device_description& device, const run_description& run) {
  json c;
  c["tool"] = run.tool;
  c["command_line"] = run.command_line;
  c["date"] = utc_now();
  c["host"] = host_name();
  c["seed"] = run.seed;
  c["backend"] = device.backend;
  c["device"] = device.name;
  for (const auto& [key, value] : device_identity()) c["device_identity"][key] = value;
  c["device_is_host"] = device.is_host;
  c["device_units"] = device.units;
  c["device_clock_hz"] = nullptr;
  if (device.clock_hz > 0) c["device_clock_hz"] = device.clock_hz;
  for (const auto& [key, value] : device_notes()) c[key] = value;
  c["threads"] = device.threads;
  c["cpu"] = cpu_name();
  c["cpus"] = initial_cpu_count();
  c["cpu_clock_hz"] = nullptr;
  if (const double hz = cpu_clock_hz(); hz > 0) c["cpu_clock_hz"] = hz;
  c["compiler"] = build_compiler;
  c["flags"] = build_flags;
  c["build_type"] = build_type;
  c["keramos_version"] = device.keramos_version;
  c["git_revision"] = git_revision;
  c["kokkos_version"] = device.kokkos_version;
  c["kokkoskernels_version"] = nullptr;
  if (const auto v = kokkoskernels_version(); !v.empty()) c["kokkoskernels_version"] = v;
  for (const char* variable :
       {"OMP_NUM_THREADS", "OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY", "KOKKOS_NUM_THREADS",
        "OPENBLAS_CORETYPE", "BLIS_ARCH_TYPE", "MKL_THREADING_LAYER", "CUDA_VISIBLE_DEVICES"}) {
    if (const char* value = std::getenv(variable)) c["environment"][variable] = value;
  }
  return c;
}

json make_context(gemm_bench& bench, const run_description& run) {
  json c = machine_context(bench.device(), run);
  bench.describe(c);
  for (const auto& slot : bench.slots()) c["providers"][slot.name] = describe(slot);
  for (const auto type : run.types) {
    const auto peak = bench.peak(type);
    if (peak.operations_per_second <= 0) continue;
    c["peak_gflops"][std::string(name(type))] = peak.operations_per_second * 1e-9;
    c["peak_kind"] = peak.kind;
  }
  return c;
}

std::string headline(const json& c) {
  const auto text_of = [&](const char* key) { return c.at(key).get<std::string>(); };
  const char* const units = !c.at("device_is_host").get<bool>() ? "multiprocessors"
                            : c.at("device_units") == 1         ? "thread"
                                                                : "threads";
  auto text = fmt::format("{} on {} ({} {}), Kokkos {}, {} {}, revision {}, seed {}\n", text_of("backend"),
                          text_of("device"), c.at("device_units").get<int>(), units,
                          text_of("kokkos_version"), text_of("compiler"), text_of("build_type"),
                          text_of("git_revision"), c.at("seed").get<std::uint64_t>());
  for (const auto& [name, p] : c.at("providers").items()) {
    if (p.at("status") != "available") continue;
    const auto version = p.at("version").get<std::string>();
    const auto& libraries = p.at("libraries");
    text += fmt::format("  {:21} {}{}\n", name, version.empty() ? "" : version + "  ",
                        libraries.empty() ? "" : libraries.front().get<std::string>());
  }
  if (c.contains("peak_gflops")) {
    text += fmt::format("  {:21}", fmt::format("peak ({})", c.at("peak_kind").get<std::string>()));
    for (const auto& [type, value] : c.at("peak_gflops").items()) {
      text += fmt::format(" {} {:.1f} {}", type, value.get<double>(), is_integer(type) ? "GOP/s" : "GFLOP/s");
    }
    text += '\n';
  }
  text +=
      "rates are medians; spread: interquartile range over the median; peak: part of the peak; ratio: "
      "Keramos' rate over this one's\n";
  return text;
}

}  // namespace keramos::perf

#include "model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;

double number(const json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_number() ? at->get<double>() : 0;
}

std::string text(const json& row, const char* key) {
  const auto at = row.find(key);
  return at != row.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::int64_t extent(const json& row, const char* key) {
  return static_cast<std::int64_t>(std::min(number(row, key), 1e15));
}

// Each operand once. A beta other than 0 reads C as well, but rows do not tell of it.
double least_bytes(const json& row) {
  if (const double known = number(row, "memory_bytes"); known > 0) return known;
  const auto type = find_type(text(row, "type"));
  if (!type) return 0;
  gemm_case g;
  g.type = *type;
  g.m = extent(row, "m"), g.n = extent(row, "n"), g.k = extent(row, "k"), g.batch = extent(row, "batch");
  for (const auto& p : row.value("extents", json::array()))
    g.list.push_back({p.at(0).get<std::int64_t>(), p.at(1).get<std::int64_t>(), p.at(2).get<std::int64_t>()});
  return g.bytes();
}

std::string multiplied_type(const std::string& of_product) {
  const auto type = find_type(of_product);
  return type ? std::string(name(multiplied_type(*type))) : of_product;
}

std::string rate(double gigas) {
  return fmt::format("{:.{}f}", gigas, gigas >= 1000 ? 0 : gigas >= 10 ? 1 : 3);
}

// A row without operations, of the kernel families.
roofline_kernel moved(const json& row, double rate) {
  roofline_kernel k;
  k.name = text(row, "provider");
  k.type = text(row, "type");
  k.problem = text(row, "kernel") + ' ' + text(row, "shape");
  k.gbytes_per_s = rate;
  return k;
}

std::string table_of_moves(const std::vector<roofline_kernel>& kernels, const device_spec& spec,
                           std::size_t name_width, std::size_t problem_width) {
  auto text = fmt::format("\n{:{}}  {:8} {:{}} {:>12}  {:16} {:>12} {:>6}\n", "kernel", name_width, "type",
                          "problem", problem_width, "GB/s", "bound", "allows", "met");
  for (const auto& k : kernels) {
    if (k.gflops > 0) continue;
    const auto p = place(k, spec);
    const bool known = p.bound.attainable > 0;
    text += fmt::format("{:{}}  {:8} {:{}} {:>12}  {:16} {:>12} {:>6}\n", k.name, name_width, k.type,
                        k.problem, problem_width, rate(k.gbytes_per_s), known ? p.bound.name : "not known",
                        known ? rate(p.bound.attainable) : "-",
                        known ? fmt::format("{:.0f}%", 100 * p.fraction) : "-");
  }
  return text;
}

}  // namespace

roofline_bound compute_roof(const device_spec& spec, const std::string& of_product) {
  const auto type = multiplied_type(of_product);
  const double peak = rate_of(spec.peak_gflops, type), matrix = rate_of(spec.matrix_peak_gflops, type);
  return matrix > peak ? roofline_bound{type + " matrix peak", matrix} : roofline_bound{type + " peak", peak};
}

double ridge_point(const device_spec& spec, const std::string& type) {
  return compute_roof(spec, type).attainable / rate_of(spec.bandwidth_gbs, "memory");
}

roofline_place place(const roofline_kernel& kernel, const device_spec& spec) {
  roofline_place result;
  if (kernel.gflops <= 0) {
    result.bound = {"memory", rate_of(spec.bandwidth_gbs, "memory")};
    if (result.bound.attainable > 0) {
      result.bounds.push_back(result.bound);
      result.fraction = kernel.gbytes_per_s / result.bound.attainable;
    }
    return result;
  }
  const auto add = [&](const std::string& name, double attainable) {
    if (attainable > 0) result.bounds.push_back({name, attainable});
  };
  add("memory", rate_of(spec.bandwidth_gbs, "memory") * kernel.memory_intensity);
  add("L1", rate_of(spec.bandwidth_gbs, "L1") * kernel.cache_intensity);
  const auto compute = compute_roof(spec, kernel.type);
  add(compute.name, compute.attainable);
  for (const auto& b : result.bounds) {
    if (result.bound.attainable == 0 || b.attainable < result.bound.attainable) result.bound = b;
  }
  if (result.bound.attainable > 0) result.fraction = kernel.gflops / result.bound.attainable;
  return result;
}

std::vector<roofline_kernel> kernels_of(const json& document, const std::string& file_name, int& left_out) {
  if (!document.is_object() || document.value("schema", "") != "keramos-perf/1" ||
      !document.contains("results") || !document.at("results").is_array()) {
    throw usage_error(fmt::format(
        "{}: not a results file: write the path of one made with keramos-perf gemm --output", file_name));
  }
  std::vector<roofline_kernel> kernels;
  left_out = 0;
  for (const auto& row : document.at("results")) {
    const double gflops = number(row, "gflops"), seconds = number(row, "median_s");
    if (seconds <= 0) continue;  // not measured
    if (gflops <= 0) {
      if (const double rate = number(row, "gbytes_per_s"); rate > 0) kernels.push_back(moved(row, rate));
      continue;
    }
    const double operations = gflops * 1e9 * seconds, bytes = least_bytes(row);
    if (bytes <= 0 || row.contains("ranks")) {  // the rate of several devices is under no roof of one
      ++left_out;
      continue;
    }
    roofline_kernel k;
    k.name = text(row, "provider");
    k.type = text(row, "type");
    k.problem = text(row, "op_a") + text(row, "op_b");
    if (row.contains("m")) {
      k.problem += fmt::format(" {}x{}x{}", number(row, "m"), number(row, "n"), number(row, "k"));
    }
    k.gflops = gflops;
    k.memory_intensity = operations / bytes;
    if (const double asked = number(row, "global_bytes"); asked > 0) k.cache_intensity = operations / asked;
    kernels.push_back(std::move(k));
  }
  return kernels;
}

std::string ceilings_text(const device_spec& spec) {
  auto text = fmt::format("ceilings of {}\n", spec.name);
  for (const auto& b : spec.bandwidth_gbs) text += fmt::format("  {:18}{:>12} GB/s\n", b.name, rate(b.value));
  const auto peaks = [&](const std::vector<named_rate>& rates, const char* what) {
    for (const auto& p : rates) {
      const bool known = compute_roof(spec, p.name).attainable == p.value;
      text += fmt::format("  {:18}{:>12} {}{}\n", p.name + what, rate(p.value),
                          is_integer(p.name) ? "GOP/s" : "GFLOP/s",
                          known ? fmt::format(", ridge point {:.3g} {}/B", ridge_point(spec, p.name),
                                              is_integer(p.name) ? "OP" : "FLOP")
                                : "");
    }
  };
  peaks(spec.peak_gflops, " peak");
  peaks(spec.matrix_peak_gflops, " matrix peak");
  return text;
}

std::string places_text(const std::vector<roofline_kernel>& kernels, const device_spec& spec) {
  std::size_t name_width = 10, problem_width = 10;
  for (const auto& k : kernels) {
    name_width = std::max(name_width, k.name.size());
    problem_width = std::max(problem_width, k.problem.size());
  }
  const auto has_operations = [](const roofline_kernel& k) { return k.gflops > 0; };
  const auto counted = std::count_if(kernels.begin(), kernels.end(), has_operations);
  const auto moves = counted < std::ssize(kernels) ? table_of_moves(kernels, spec, name_width, problem_width)
                                                   : std::string();
  if (counted == 0) return moves;
  auto text = fmt::format("\n{:{}}  {:8} {:{}} {:>10} {:>10} {:>12}  {:16} {:>12} {:>6}\n", "kernel",
                          name_width, "type", "problem", problem_width, "OP/B mem.", "OP/B L1", "GFLOP/s",
                          "bound", "allows", "met");
  for (const auto& k : kernels) {
    if (!has_operations(k)) continue;
    const auto p = place(k, spec);
    text += fmt::format("{:{}}  {:8} {:{}} {:>10.3g} {:>10} {:>12}  {:16} {:>12} {:>6}\n", k.name, name_width,
                        k.type, k.problem, problem_width, k.memory_intensity,
                        k.cache_intensity > 0 ? fmt::format("{:.3g}", k.cache_intensity) : "-",
                        rate(k.gflops), p.bound.attainable > 0 ? p.bound.name : "not known",
                        p.bound.attainable > 0 ? rate(p.bound.attainable) : "-",
                        p.bound.attainable > 0 ? fmt::format("{:.0f}%", 100 * p.fraction) : "-");
  }
  return text + moves;
}

json roofline_document(const std::vector<roofline_kernel>& kernels, const device_spec& spec) {
  json out;
  out["schema"] = "keramos-perf-roofline/1";
  out["device"] = to_json(spec);
  for (const auto* rates : {&spec.peak_gflops, &spec.matrix_peak_gflops}) {
    for (const auto& p : *rates) {
      if (compute_roof(spec, p.name).attainable == p.value)
        out["ridge_points"][p.name] = ridge_point(spec, p.name);
    }
  }
  out["kernels"] = json::array();
  for (const auto& k : kernels) {
    const auto p = place(k, spec);
    json row;
    row["kernel"] = k.name;
    row["type"] = k.type;
    row["problem"] = k.problem;
    if (k.gflops <= 0) {
      row["gbytes_per_s"] = k.gbytes_per_s;
      row["bound"] = p.bound.name;
      row["attainable_gbytes_per_s"] = p.bound.attainable;
      row["fraction"] = p.fraction;
      out["kernels"].push_back(std::move(row));
      continue;
    }
    row["gflops"] = k.gflops;
    row["memory_intensity"] = k.memory_intensity;
    row["cache_intensity"] = nullptr;
    if (k.cache_intensity > 0) row["cache_intensity"] = k.cache_intensity;
    row["bound"] = nullptr;
    if (p.bound.attainable > 0) {
      row["bound"] = p.bound.name;
      row["attainable_gflops"] = p.bound.attainable;
      row["fraction"] = p.fraction;
    }
    out["kernels"].push_back(std::move(row));
  }
  return out;
}

}  // namespace keramos::perf

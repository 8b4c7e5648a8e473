#include "device_spec.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "json.hpp"
#include "problem.hpp"

namespace keramos::perf {
namespace {

using json = nlohmann::ordered_json;
constexpr const char* schema = "keramos-device-spec/1";

// The optional limits and the numbers with defaults, under the names they have in files.
struct optional_field {
  const char* name;
  std::optional<std::int64_t> unit_limits::*member;
};
struct plain_field {
  const char* name;
  std::int64_t unit_limits::*member;
};
constexpr optional_field optional_fields[] = {
    {"threads", &unit_limits::threads},
    {"teams", &unit_limits::teams},
    {"threads_of_a_team", &unit_limits::threads_of_a_team},
    {"registers", &unit_limits::registers},
    {"registers_of_a_thread", &unit_limits::registers_of_a_thread},
    {"scratch_bytes", &unit_limits::scratch_bytes},
};
constexpr plain_field plain_fields[] = {
    {"warp", &unit_limits::warp},
    {"register_granularity", &unit_limits::register_granularity},
    {"register_banks", &unit_limits::register_banks},
    {"scratch_granularity", &unit_limits::scratch_granularity},
    {"scratch_reserved_of_a_team", &unit_limits::scratch_reserved_of_a_team},
};

unit_limits parse_unit(const json& from, const std::string& file_name) {
  unit_limits unit;
  for (const auto& [key, value] : from.items()) {
    bool known = false;
    const auto number = value.get<std::int64_t>();
    for (const auto& f : optional_fields) {
      if (key == f.name) unit.*f.member = number, known = true;
    }
    for (const auto& f : plain_fields) {
      if (key == f.name) unit.*f.member = number, known = true;
    }
    if (!known) throw usage_error(fmt::format("{}: unit.{} is not a field", file_name, key));
    const bool may_be_0 = key == std::string("scratch_reserved_of_a_team");
    if (number < (may_be_0 ? 0 : 1)) {
      throw usage_error(fmt::format("{}: unit.{} is {} but must be at least 1", file_name, key, number));
    }
    if (number > std::int64_t(1) << 30) {
      throw usage_error(fmt::format("{}: unit.{} is {} but must be at most 2^30", file_name, key, number));
    }
  }
  return unit;
}

std::vector<named_rate> parse_rates(const json& document, const char* key, const std::string& file_name) {
  std::vector<named_rate> rates;
  if (!document.contains(key)) return rates;
  for (const auto& [name, value] : document.at(key).items()) {
    if (!(value.get<double>() > 0)) {
      throw usage_error(fmt::format("{}: {}.{} must be greater than 0", file_name, key, name));
    }
    rates.push_back({name, value.get<double>()});
  }
  return rates;
}

json to_json(const std::vector<named_rate>& rates) {
  json out = json::object();
  for (const auto& r : rates) out[r.name] = r.value;
  return out;
}

std::string known_specs(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

double rate_of(const std::vector<named_rate>& rates, const std::string& name) {
  for (const auto& r : rates) {
    if (r.name == name) return r.value;
  }
  return 0;
}

device_spec parse_device_spec(const json& document, const std::string& file_name) {
  try {
    if (document.value("schema", "") != schema) {
      throw usage_error(
          fmt::format("{}: not a device spec: write \"schema\": \"{}\" and the fields that "
                      "perf/data/specs/README.md names",
                      file_name, schema));
    }
    device_spec spec;
    spec.name = document.at("name").get<std::string>();
    spec.kind = document.at("kind").get<std::string>();
    if (spec.kind != "gpu" && spec.kind != "cpu") {
      throw usage_error(fmt::format("{}: kind is '{}': write gpu or cpu", file_name, spec.kind));
    }
    spec.units = document.value("units", 0);
    spec.clock_ghz = document.value("clock_ghz", 0.0);
    spec.bandwidth_gbs = parse_rates(document, "bandwidth_gbs", file_name);
    spec.peak_gflops = parse_rates(document, "peak_gflops", file_name);
    spec.matrix_peak_gflops = parse_rates(document, "matrix_peak_gflops", file_name);
    if (rate_of(spec.bandwidth_gbs, "memory") == 0) {
      throw usage_error(fmt::format("{}: has no bandwidth_gbs.memory: write it in GB/s", file_name));
    }
    if (document.contains("unit")) spec.unit = parse_unit(document.at("unit"), file_name);
    if (document.contains("sources")) spec.sources = document.at("sources").get<std::vector<std::string>>();
    return spec;
  } catch (const nlohmann::json::exception&) {
    throw usage_error(fmt::format(
        "{}: a field is missing or of a wrong type: write it like those in perf/data/specs", file_name));
  }
}

device_spec read_device_spec(const std::string& name_or_path, const std::string& folder) {
  auto path = std::filesystem::path(name_or_path);
  if (!std::filesystem::is_regular_file(path)) {
    path = std::filesystem::path(folder) / (name_or_path + ".json");
  }
  if (!std::filesystem::is_regular_file(path)) {
    throw usage_error(
        fmt::format("--device-spec {}: there is no such file or spec: write a file's path, or one of {}",
                    name_or_path, known_specs(folder)));
  }
  return parse_device_spec(read_json(path.string()), path.string());
}

json to_json(const device_spec& spec) {
  json out;
  out["schema"] = schema;
  out["name"] = spec.name;
  out["kind"] = spec.kind;
  out["units"] = spec.units;
  out["clock_ghz"] = spec.clock_ghz;
  out["bandwidth_gbs"] = to_json(spec.bandwidth_gbs);
  out["peak_gflops"] = to_json(spec.peak_gflops);
  if (!spec.matrix_peak_gflops.empty()) out["matrix_peak_gflops"] = to_json(spec.matrix_peak_gflops);
  for (const auto& f : optional_fields) {
    if (spec.unit.*f.member) out["unit"][f.name] = *(spec.unit.*f.member);
  }
  if (out.contains("unit")) {
    for (const auto& f : plain_fields) out["unit"][f.name] = spec.unit.*f.member;
  }
  out["sources"] = spec.sources;
  return out;
}

}  // namespace keramos::perf

#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

struct unit {
  double size;
  const char* name;
};

// In the largest of the units, which ascend, of which there is at least one.
std::string in_unit(double value, std::initializer_list<unit> units, const std::string& what = {}) {
  if (value == 0) return {};
  const unit* best = units.begin();
  for (const auto& u : units) {
    if (std::abs(value) >= u.size * 0.9995) best = &u;  // 999.7 is 1000
  }
  return fmt::format("{}\u00a0{}{}", three_digits(value / best->size), best->name, what);
}

}  // namespace

std::string three_digits(double value) {
  if (value == 0) return {};
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const double a = std::abs(value);
  if (a >= 1e6 || a < 0.001) return fmt::format("{:.3g}", value);
  const int digits = a >= 99.95 ? 0 : a >= 9.995 ? 1 : 2;
  return a < 0.9995 ? fmt::format("{:.3g}", value) : fmt::format("{:.{}f}", value, digits);
}

std::string time_text(double seconds) {
  return in_unit(seconds, {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}});
}

std::string rate_text(double giga, const std::string& what) {
  return in_unit(giga, {{1e-3, "M"}, {1, "G"}, {1e3, "T"}, {1e6, "P"}}, what);
}

std::string bytes_text(double bytes) {
  return in_unit(bytes, {{1, "B"}, {1024, "KiB"}, {1048576, "MiB"}, {1073741824, "GiB"}});
}

std::string hertz_text(double hertz) { return in_unit(hertz, {{1, "Hz"}, {1e6, "MHz"}, {1e9, "GHz"}}); }

std::string percent_text(double fraction) {
  if (fraction == 0 || !std::isfinite(fraction)) return {};
  const double percent = 100 * fraction;
  if (std::abs(percent) < 0.095) return fmt::format("{:.1g}\u00a0%", percent);
  return fmt::format("{:.{}f}\u00a0%", percent, std::abs(percent) >= 9.95 ? 0 : 1);
}

std::string operations_unit(const std::string& type) { return is_integer(type) ? "OP/s" : "FLOP/s"; }

named_text named_figure(const std::string& key, double value, const std::string& type) {
  auto name = key;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
  const auto without = [&](std::size_t letters) { return name.substr(0, name.size() - letters); };
  if (key.ends_with("_s") && !key.ends_with("_per_s")) return {without(2), time_text(value)};
  if (key.ends_with("gbytes_per_s")) return {without(12) + "bandwidth", rate_text(value, "B/s")};
  if (key.ends_with("_gbs")) return {without(4), rate_text(value, "B/s")};
  if (key.ends_with("_hz")) return {without(3), hertz_text(value)};
  if (key.ends_with("_ghz")) return {without(4), hertz_text(1e9 * value)};
  if (key.ends_with("_bytes")) return {without(6), bytes_text(value)};
  if (key == "gflops") return {"rate", rate_text(value, operations_unit(type))};
  if (key.ends_with("_gflops")) return {without(7), rate_text(value, operations_unit(type))};
  if (key.ends_with("fraction")) return {name, percent_text(value)};
  if (key.ends_with("intensity")) {
    auto unit = operations_unit(type);
    unit.back() = 'B';
    return {name, three_digits(value) + "\u00a0" + unit};
  }
  return {name, value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                     : three_digits(value)};
}

}  // namespace keramos::perf

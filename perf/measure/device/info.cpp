#include "info.hpp"

#include <cstdio>
#include <keramos/core/device.hpp>
#include <keramos/core/queue.hpp>

namespace keramos::perf {
namespace {

std::string number(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string bytes(std::size_t n) {
  if (n >= std::size_t(1) << 30) return number(double(n) / (1 << 30), "%.1f GiB");
  if (n >= std::size_t(1) << 20) return number(double(n) / (1 << 20), "%.1f MiB");
  return number(double(n) / 1024, "%.1f KiB");
}
std::string kokkos_version() {
  return std::to_string(KOKKOS_VERSION / 10000) + "." + std::to_string(KOKKOS_VERSION / 100 % 100) + "." +
         std::to_string(KOKKOS_VERSION % 100);
}

// Local memory depends on the team: Kokkos keeps some of it for each thread.
template <class Exec>
std::string local_memory() {
  using traits = backend::traits<Exec>;
  const Exec exec;
  std::string text;
  int last = 0;
  for (const int items : {1, 256, 1024}) {
    const int team = traits::team_size(items);
    if (team == last) continue;
    last = team;
    text += (text.empty() ? "" : ", ") + bytes(traits::local_memory_limit(exec, team)) + " (" +
            std::to_string(team) + (team == 1 ? " thread)" : " threads)");
  }
  return text + " a work-group";
}
std::string local_memory_of(const std::string& backend) {
  std::string text;
#define KERAMOS_LOCAL_MEMORY(Space) \
  if (backend == backend::traits<Space>::name) text = local_memory<Space>();
  KERAMOS_FOR_EACH_SPACE(KERAMOS_LOCAL_MEMORY)
#undef KERAMOS_LOCAL_MEMORY
  return text;
}

info_section section_of(const device_info& d, int in_use) {
  info_section s{d.backend + " " + std::to_string(d.id), {}};
  const bool used = d.id == in_use;
  s.rows.emplace_back("device", d.name + (used ? "" : " (not in use)"));
  if (!d.architecture.empty()) s.rows.emplace_back("architecture", d.architecture);
  std::string units = std::to_string(d.units) + (d.is_host ? " thread" : " multiprocessor");
  if (d.units != 1) units += "s";
  if (d.clock_hz > 0) units += number(1e-9 * d.clock_hz, ", up to %.2f GHz");
  s.rows.emplace_back("units", units);
  if (d.memory_bytes > 0) s.rows.emplace_back("memory", bytes(d.memory_bytes));
  if (d.cache_bytes > 0) s.rows.emplace_back("cache", bytes(d.cache_bytes));
  s.rows.emplace_back("local memory", used ? local_memory_of(d.backend) : bytes(d.local_memory_bytes));
  s.rows.emplace_back("work-group", d.max_team_size == 1 ? "any number of items, on one thread"
                                                         : "any number of items, on up to " +
                                                               std::to_string(d.max_team_size) + " threads");
  s.rows.emplace_back("sub-group", "32 items");
  return s;
}

}  // namespace

std::vector<info_section> describe_build_and_devices() {
  const device_info mine = queue().device();
  std::string backends;
#define KERAMOS_NAME(Space) \
  backends += std::string(backends.empty() ? "" : ", ") + backend::traits<Space>::name;
  KERAMOS_FOR_EACH_SPACE(KERAMOS_NAME)
#undef KERAMOS_NAME
  info_section build{"keramos", {}};
  build.rows.emplace_back("version", KERAMOS_VERSION);
  build.rows.emplace_back("Kokkos", kokkos_version());
  build.rows.emplace_back("backends", backends);
  build.rows.emplace_back("default backend", mine.backend);
#ifdef KERAMOS_CHECKS
  build.rows.emplace_back("checks", "on: not for measurements");
#endif
  std::vector<info_section> sections{build};
  for (const device_info& d : get_devices())
    sections.push_back(section_of(d, d.backend == mine.backend ? mine.id : 0));
  return sections;
}

}  // namespace keramos::perf

#include "host.hpp"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "parallel.hpp"

namespace keramos::perf {
namespace {

std::string cpuinfo(std::string_view key) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos && line.starts_with(key)) return line.substr(colon + 2);
  }
  return {};
}

// CPUs in a list such as "0-3,8,10-11".
int count_of_cpu_list(const std::string& list) {
  int count = 0;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ',');) {
    int first = 0, last = 0;
    const int read = std::sscanf(item.c_str(), "%d-%d", &first, &last);
    if (read > 0) count += read == 2 ? last - first + 1 : 1;
  }
  return count;
}

std::string real_path(const std::string& path) {
  std::error_code failed;
  const auto real = std::filesystem::canonical(path, failed);
  return failed ? path : real.string();
}

}  // namespace

std::string cpu_name() {
  for (const char* key : {"model name", "Model", "cpu\t", "uarch"}) {
    if (auto name = cpuinfo(key); !name.empty()) return name;
  }
  return "unknown CPU";
}

identity cpu_identity(const std::string& cpuinfo) {
  constexpr std::pair<const char*, const char*> fields[] = {
      {"vendor_id", "vendor"},  {"cpu family", "family"},      {"model", "model"},
      {"stepping", "stepping"}, {"CPU implementer", "vendor"}, {"CPU architecture", "family"},
      {"CPU part", "model"},    {"CPU variant", "variant"},    {"CPU revision", "stepping"}};
  // Those that a kernel of ours or of a BLAS is chosen by.
  constexpr std::string_view isa_prefixes[] = {"avx", "fma", "f16c", "amx", "sve", "asimd", "i8mm", "bf16"};
  identity known;
  std::vector<std::string> isa;
  int cpus = 0;
  std::istringstream in(cpuinfo);
  for (std::string line; std::getline(in, line);) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
    const auto value = colon + 2 < line.size() ? line.substr(colon + 2) : std::string();
    cpus += key == "processor";
    if (cpus > 1) continue;  // the first speaks for all
    for (const auto& [from, to] : fields) {
      if (key == from) known.emplace_back(to, value);
    }
    if (key != "flags" && key != "Features") continue;
    std::istringstream words(value);
    for (std::string word; words >> word;) {
      const auto starts = [&](std::string_view prefix) { return word.starts_with(prefix); };
      if (std::any_of(std::begin(isa_prefixes), std::end(isa_prefixes), starts)) isa.push_back(word);
    }
  }
  std::sort(isa.begin(), isa.end());
  if (!isa.empty()) known.emplace_back("isa", fmt::format("{}", fmt::join(isa, " ")));
  if (cpus > 0) known.emplace_back("cpus", std::to_string(cpus));
  return known;
}

identity cpu_identity() {
  std::stringstream text;
  text << std::ifstream("/proc/cpuinfo").rdbuf();
  auto known = cpu_identity(text.str());
  for (const auto& level : host_caches()) {
    known.emplace_back(level.name, fmt::format("{} KiB of {} core{}", level.bytes >> 10, level.cores,
                                               level.cores == 1 ? "" : "s"));
  }
  return known;
}

double cpu_clock_hz() {
  double khz = 0;
  std::ifstream in("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq");
  if (in >> khz) return khz * 1e3;
  const auto mhz = cpuinfo("cpu MHz");
  return mhz.empty() ? 0 : std::stod(mhz) * 1e6;
}

std::string host_name() {
  char name[256] = "unknown";
  gethostname(name, sizeof(name) - 1);
  return name;
}

std::string utc_now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

std::vector<cache_level> read_caches(const std::string& folder) {
  std::vector<cache_level> levels;
  for (int index = 0;; ++index) {
    const auto value = [&, at = fmt::format("{}/index{}/", folder, index)](const char* name) {
      std::string text;
      std::ifstream(at + name) >> text;
      return text;
    };
    const auto level = value("level");
    if (level.empty()) break;
    const auto size = value("size");  // "32768K"; virtual machines may have none
    if (value("type") == "Instruction" || size.empty()) continue;
    levels.push_back({"L" + level, std::strtoull(size.c_str(), nullptr, 10) << (size.back() == 'M' ? 20 : 10),
                      std::max(1, count_of_cpu_list(value("shared_cpu_list")))});
  }
  std::sort(levels.begin(), levels.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  // The CPUs that share the first level are one core.
  const int cpus_of_a_core = levels.empty() ? 1 : levels.front().cores;
  for (auto& level : levels) level.cores = std::max(1, level.cores / cpus_of_a_core);
  return levels;
}

std::vector<cache_level> host_caches() {
  int cpu = 0;
  while (cpu + 1 < CPU_SETSIZE && !CPU_ISSET(cpu, &initial_affinity())) ++cpu;
  auto levels = read_caches(fmt::format("/sys/devices/system/cpu/cpu{}/cache", cpu));
#ifdef _SC_LEVEL1_DCACHE_SIZE
  if (!levels.empty()) return levels;
  const auto add = [&](const char* name, int which, int cores) {
    if (const long bytes = sysconf(which); bytes > 0) levels.push_back({name, std::size_t(bytes), cores});
  };
  add("L1", _SC_LEVEL1_DCACHE_SIZE, 1);
  add("L2", _SC_LEVEL2_CACHE_SIZE, 1);
  add("L3", _SC_LEVEL3_CACHE_SIZE, initial_cpu_count());
#endif
  return levels;
}

std::size_t cache_bytes() {
  const auto levels = host_caches();
  return levels.empty() ? std::size_t(32) << 20 : levels.back().bytes;
}

std::string first_line_of_command(const char* command) {
  std::FILE* const pipe = popen(command, "r");
  if (pipe == nullptr) return {};
  char line[512] = "";
  if (std::fgets(line, sizeof(line), pipe) == nullptr) line[0] = 0;
  if (pclose(pipe) != 0) return {};
  std::string text = line;
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::vector<std::string> loaded_libraries(const std::vector<std::string>& words) {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] == '/') {
          static_cast<std::vector<std::string>*>(out)->push_back(real_path(info->dlpi_name));
        }
        return 0;
      },
      &paths);
  std::erase_if(paths, [&](const std::string& path) {
    const auto file = path.substr(path.rfind('/') + 1);
    for (const auto& word : words) {
      if (file.find(word) != std::string::npos) return false;
    }
    return true;
  });
  return paths;
}

std::string executable_path() { return real_path("/proc/self/exe"); }

std::string data_folder(const char* of_sources) {
  const auto installed = std::filesystem::path(executable_path()).parent_path();
  return std::filesystem::is_directory(installed / "data" / "specs") ? installed.string() : of_sources;
}

std::string file_of_address(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname[0] == '/' ? real_path(info.dli_fname) : executable_path();
}

}  // namespace keramos::perf

#include "host.hpp"

#include <dlfcn.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

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

std::size_t cache_bytes() {
  // What the kernel says first: sysconf asks the CPU itself, which in a virtual machine may tell of
  // all the caches of the machine around it.
  std::size_t largest = 0;
  for (int index = 0;; ++index) {
    std::ifstream in(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
    std::size_t kib = 0;
    if (!(in >> kib)) break;  // "32768K"
    largest = std::max(largest, kib << 10);
  }
  if (largest > 0) return largest;
#ifdef _SC_LEVEL3_CACHE_SIZE
  for (const int level : {_SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    if (const long bytes = sysconf(level); bytes > 0) return static_cast<std::size_t>(bytes);
  }
#endif
  return std::size_t(32) << 20;
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

std::string file_of_address(const void* address) {
  Dl_info info;
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname[0] == '/' ? real_path(info.dli_fname) : executable_path();
}

}  // namespace keramos::perf

#include "cpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>
#include <tuple>

#include "parallel.hpp"

namespace keramos::perf {
namespace {

int topology(int cpu, const char* what) {
  int value = 0;
  std::ifstream(fmt::format("/sys/devices/system/cpu/cpu{}/topology/{}", cpu, what)) >> value;
  return value;
}

// Ticks each CPU was idle, and all its ticks, since the system started.
struct ticks {
  double idle = 0, all = 0;
};
std::map<int, ticks> read_ticks() {
  std::map<int, ticks> of;
  std::ifstream in("/proc/stat");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("cpu") || line.size() < 4 || line[3] == ' ') continue;
    std::istringstream fields(line.substr(3));
    int cpu = 0;
    fields >> cpu;
    ticks t;
    double value = 0;
    for (int i = 0; fields >> value; ++i) {
      t.all += value;
      if (i == 3 || i == 4) t.idle += value;  // idle, and waiting for disks
    }
    of[cpu] = t;
  }
  return of;
}

cpu_set_t set_of(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  return set;
}

}  // namespace

cpu_place place_of_cpu(int cpu) {
  return {cpu, topology(cpu, "physical_package_id"), topology(cpu, "core_id")};
}

std::vector<int> choose_cpus(int count) {
  const auto all = cpus_of(initial_affinity());
  if (count >= static_cast<int>(all.size())) return all;

  const auto before = read_ticks();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  auto after = read_ticks();
  const auto is_busy = [&](int cpu) {
    const auto was = before.find(cpu);
    if (was == before.end()) return false;
    const double ticks = after[cpu].all - was->second.all;
    return ticks > 0 && (after[cpu].idle - was->second.idle) / ticks < 0.75;
  };
  std::map<std::pair<int, int>, int> seen_of_core;
  std::vector<std::tuple<int, bool, int, int>> order;
  for (const int cpu : all) {
    const auto place = place_of_cpu(cpu);
    const int sibling = seen_of_core[{place.package, place.core}]++;
    order.emplace_back(sibling, is_busy(cpu), place.package, cpu);
  }
  std::sort(order.begin(), order.end());
  std::vector<int> chosen;
  for (int i = 0; i < std::max(1, count); ++i) chosen.push_back(std::get<3>(order[i]));
  return chosen;
}

std::vector<int> share_of_cpus(std::vector<cpu_place> cpus, int local_rank, int local_ranks) {
  std::sort(cpus.begin(), cpus.end(), [](const cpu_place& a, const cpu_place& b) {
    return std::tie(a.package, a.core, a.cpu) < std::tie(b.package, b.core, b.cpu);
  });
  std::vector<std::vector<int>> cores;  // the CPUs of each
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const bool same = i > 0 && cpus[i].package == cpus[i - 1].package && cpus[i].core == cpus[i - 1].core;
    if (!same) cores.emplace_back();
    cores.back().push_back(cpus[i].cpu);
  }
  const auto count = static_cast<int>(cores.size());
  if (local_ranks > count) {
    // More ranks than cores: a CPU each, and when those are used up the first again.
    return {cpus[std::size_t(local_rank) % cpus.size()].cpu};
  }
  std::vector<int> share;
  for (int core = local_rank * count / local_ranks; core < (local_rank + 1) * count / local_ranks; ++core) {
    share.insert(share.end(), cores[core].begin(), cores[core].end());
  }
  return share;
}

bool are_bound(const std::vector<cpu_set_t>& affinities) {
  return std::any_of(affinities.begin(), affinities.end(),
                     [&](const cpu_set_t& set) { return CPU_EQUAL(&set, &affinities.front()) == 0; });
}

void confine_to(const std::vector<int>& cpus) {
  const auto set = set_of(cpus);
  sched_setaffinity(0, sizeof(set), &set);
}

bool pin_threads(const std::vector<int>& cpus) {
  std::vector<int> threads;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", failed)) {
    threads.push_back(std::stoi(entry.path().filename().string()));
  }
  if (threads.size() != cpus.size()) return false;
  std::sort(threads.begin(), threads.end());  // the main thread's number is the process', the first
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const auto set = set_of({cpus[i]});
    sched_setaffinity(threads[i], sizeof(set), &set);
  }
  return true;
}

std::vector<int> cpus_of(const cpu_set_t& set) {
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::string join(const std::vector<int>& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

std::vector<int> parse_cpus(const std::string& joined) {
  std::vector<int> cpus;
  std::istringstream in(joined);
  for (std::string item; std::getline(in, item, ',');) cpus.push_back(std::stoi(item));
  return cpus;
}

}  // namespace keramos::perf

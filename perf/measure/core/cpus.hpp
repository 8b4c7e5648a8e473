// Which CPUs a measurement uses, and which thread of a process on which.
#pragma once

#include <sched.h>

#include <string>
#include <vector>

namespace keramos::perf {

// A CPU, and where it is.
struct cpu_place {
  int cpu = 0, package = 0, core = 0;
};
cpu_place place_of_cpu(int cpu);

// `count` of the CPUs this process may use, in the order threads should take them: those of different
// cores before hyperthreads of the same, idle ones before busy ones, then by socket and number. All
// of them if there are no more.
std::vector<int> choose_cpus(int count);

// The share of one of `ranks` ranks: whole cores, next to each other; ranks in excess of the CPUs
// share them in turn.
std::vector<int> share_of_cpus(std::vector<cpu_place> cpus, int local_rank, int local_ranks);

// Whether the launcher gave the ranks of a node different CPUs.
bool are_bound(const std::vector<cpu_set_t>& affinities);

// Lets the calling thread, and what it starts, run on these CPUs only.
void confine_to(const std::vector<int>& cpus);

// If this process has exactly as many threads as there are CPUs, one is pinned to each, the main
// thread to the first. True if so; otherwise (a pool with threads of its own) nothing is done.
bool pin_threads(const std::vector<int>& cpus);

std::vector<int> cpus_of(const cpu_set_t& set);
std::string join(const std::vector<int>& cpus);  // "0,2,4"
std::vector<int> parse_cpus(const std::string& joined);

}  // namespace keramos::perf

// Which CPUs a measurement uses, and which thread of a process on which.
#pragma once

#include <string>
#include <vector>

namespace keramos::perf {

// `count` of the CPUs this process may use, in the order threads should take them: those of different
// cores before hyperthreads of the same, idle ones before busy ones, then by socket and number. All
// of them if there are no more.
std::vector<int> choose_cpus(int count);

// Lets the calling thread, and what it starts, run on these CPUs only.
void confine_to(const std::vector<int>& cpus);

// If this process has exactly as many threads as there are CPUs, one is pinned to each, the main
// thread to the first. True if so; otherwise (a pool with threads of its own) nothing is done.
bool pin_threads(const std::vector<int>& cpus);

std::string join(const std::vector<int>& cpus);  // "0,2,4"
std::vector<int> parse_cpus(const std::string& joined);

}  // namespace keramos::perf

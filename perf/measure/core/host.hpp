// What the harness notes about the machine it runs on, and the libraries in its process.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace keramos::perf {

std::string cpu_name();
double cpu_clock_hz();  // 0 where the system does not tell
std::string host_name();
std::string utc_now();      // 2025-11-21T08:00:00Z
std::size_t cache_bytes();  // of the last level of one core; 32 MiB where the system does not tell

// What tells this CPU from others that may have the same name: vendor, family, model, stepping (on Arm
// implementer, part, ...), the vector and matrix instructions that it has, how many CPUs, the caches. From
// the text of /proc/cpuinfo; keys that it lacks are left out.
using identity = std::vector<std::pair<std::string, std::string>>;
identity cpu_identity(const std::string& cpuinfo);
identity cpu_identity();  // of this machine, with the caches

// A level of the caches that hold data, as one core sees it.
struct cache_level {
  std::string name;  // "L1", "L2", "L3"
  std::size_t bytes = 0;
  int cores = 1;  // that share it
};
// What Linux tells of one CPU in `folder`, from the first level on; empty if it tells nothing. sysconf is
// no substitute: in a virtual machine it may tell of all the L3 of the machine around it.
std::vector<cache_level> read_caches(const std::string& folder);
// Of the first CPU that this process may use; from sysconf where Linux does not tell.
std::vector<cache_level> host_caches();
std::string first_line_of_command(const char* command);  // "" if it fails

// Real paths of the shared libraries loaded now whose file name contains one of the words.
std::vector<std::string> loaded_libraries(const std::vector<std::string>& words);
std::string executable_path();

/// The folder of specs, recordings and plotting scripts: the program's own where it is installed, else that of the sources.
std::string data_folder(const char* of_sources);
// The real path of the file that holds this address, a function's say; "" if none does.
std::string file_of_address(const void* address);

}  // namespace keramos::perf

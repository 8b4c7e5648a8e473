// What the harness notes about the machine it runs on, and the libraries in its process.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace keramos::perf {

std::string cpu_name();
double cpu_clock_hz();  // 0 where the system does not tell
std::string host_name();
std::string utc_now();      // 2025-11-21T08:00:00Z
std::size_t cache_bytes();  // of the last level; 32 MiB where the system does not tell
std::string first_line_of_command(const char* command);  // "" if it fails

// Real paths of the shared libraries loaded now whose file name contains one of the words.
std::vector<std::string> loaded_libraries(const std::vector<std::string>& words);
std::string executable_path();
// The real path of the file that holds this address, a function's say; "" if none does.
std::string file_of_address(const void* address);

}  // namespace keramos::perf

// What the machine tells of its caches.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace keramos::backend::host {

/// Bytes of a core's second-level cache as the C library knows it, or Linux (of Arm's the former knows nothing), or 1 MiB.
inline std::size_t second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return std::size_t(bytes);
#endif
  static const std::size_t kib = [] {
    std::ifstream level("/sys/devices/system/cpu/cpu0/cache/index2/level"),
        size("/sys/devices/system/cpu/cpu0/cache/index2/size");
    int number = 0;
    std::size_t found = 0;
    char unit = 0;
    const bool known = level >> number && number == 2 && size >> found >> unit && unit == 'K';
    return known && found > 0 ? found : std::size_t(1024);
  }();
  return kib << 10;
}

}  // namespace keramos::backend::host

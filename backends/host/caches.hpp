// What the machine tells of its caches.
#pragma once

#include <unistd.h>

#include <cstddef>

namespace keramos::backend::host {

/// Bytes of a core's second-level cache as the C library knows it, or 1 MiB where it does not (on Arm).
inline std::size_t second_level_cache_bytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  if (bytes > 0) return std::size_t(bytes);
#endif
  return std::size_t(1) << 20;
}

}  // namespace keramos::backend::host

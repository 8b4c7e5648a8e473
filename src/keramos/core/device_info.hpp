// What a backend can say about the device behind a queue.
#pragma once

#include <cstddef>
#include <string>

namespace keramos {

struct device_info {
  std::string backend;             ///< "cuda", "openmp", "serial", ...: the backend's folder name
  std::string name;                ///< "NVIDIA H200" or the processor's model name
  int units = 1;                   ///< multiprocessors of a GPU, threads of a host
  double clock_hz = 0;             ///< highest core clock; 0 where the device does not tell
  std::size_t local_memory_bytes;  ///< the most local memory that a one-thread group can ask for
};

}  // namespace keramos

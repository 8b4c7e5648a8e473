// What a backend can say about a device: what get_devices() (core/device.hpp) and `q.device()` return.
#pragma once

#include <cstddef>
#include <string>

namespace keramos {

struct device_info {
  std::string backend;                 ///< "cuda", "openmp", "serial", ...: the backend's folder name
  std::string name;                    ///< "NVIDIA H200" or the processor's model name
  int units = 1;                       ///< multiprocessors of a GPU, threads of a host
  double clock_hz = 0;                 ///< highest core clock; 0 where the device does not tell
  std::size_t local_memory_bytes = 0;  ///< the most local memory that a one-thread group can ask for
  int id = 0;                          ///< number among its backend's devices, as the vendor counts
  bool is_host = false;                ///< kernels run on the host's own threads
  int max_team_size = 1;               ///< threads that a group's items are shared out to, at most
  std::string architecture;            ///< "sm_90", "gfx90a"; empty where the device does not tell
  std::size_t memory_bytes = 0;        ///< the device's memory; 0 where it does not tell
  std::size_t cache_bytes = 0;         ///< last-level cache of a GPU; 0 where it does not tell
};

}  // namespace keramos

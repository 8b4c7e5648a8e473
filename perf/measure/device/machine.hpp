// The device that Keramos' default queue is on, and matrices in its memory, seen without Kokkos:
// only machine.cpp, workspace.cpp and providers on Kokkos include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "measure/core/problem.hpp"
#include "measure/providers/provider.hpp"

namespace keramos::perf {

struct device_description {
  std::string backend;  // "serial", "openmp", "cuda", ...
  std::string name;
  int units = 0;        // multiprocessors, or threads of a host
  double clock_hz = 0;  // 0: not known
  int threads = 1;      // host threads that Kokkos uses
  bool is_host = true;  // the host can read the default queue's memory
  std::string kokkos_version;
  std::string keramos_version;
};

// Holds Kokkos up for as long as it lives, and the queue that all work goes to.
class machine {
 public:
  machine(int& argc, char** argv);
  ~machine();
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;
  const device_description& device() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Whether the default device is the host, known without starting anything.
bool default_device_is_host();

// `sets` copies of one problem filled with random data, the same for the same seed.
class workspace {
 public:
  workspace(const gemm_case& g, std::int64_t sets, std::uint64_t seed);
  ~workspace();
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;

  const gemm_operands& operands() const;
  // C of the first set back to what a verified run starts from: NaN (integers: -1) if beta is 0,
  // because it must not be read and every element must be written, else the initial random C.
  void reset_c(bool on_host);
  // C of the first set, on the host.
  const void* fetch_c(bool on_host);
  // The initial C of the first set; null if beta is 0.
  const void* initial_c() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

// Devices of the default kind that this process may use; 0: hosts, and where Kokkos chooses itself.
int visible_devices();

// What differs from device to device: device/<backend>.cpp, and host.cpp for all hosts.
std::size_t device_cache_bytes();
struct device_peak {
  double operations_per_second = 0;  // 0: not known
  const char* kind = "";             // "measured" or "nominal"
};
device_peak peak_of(data_type type, const device_description& device);
// What tells the device from others of the same name, by keys; empty where nothing is known.
std::vector<std::pair<std::string, std::string>> device_identity();
// Clocks, power limit and so on for the context of the results.
std::vector<std::pair<std::string, std::string>> device_notes();

}  // namespace keramos::perf

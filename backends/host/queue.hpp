// Events and device description of the host backends. Kokkos' host kernels are done when the launch
// returns, so an event is at most the time at which it was recorded.
#pragma once

#include <chrono>
#include <fstream>
#include <string>

#include <keramos/backends/host/traits.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>

namespace keramos::backend::host {

template <class Exec>
class native_event {
  using clock = std::chrono::steady_clock;

 public:
  static backend::native_event<Exec> record(const Exec&) {
    backend::native_event<Exec> e;
    e.at_ = clock::now();
    return e;
  }
  static backend::native_event<Exec> completion(const Exec&) { return {}; }
  void wait() const {}
  bool is_complete() const { return true; }
  static double seconds_between(const native_event& start, const native_event& stop) {
    if (start.at_ == clock::time_point() || stop.at_ == clock::time_point())
      throw error("keramos::elapsed_seconds: an event that a kernel returned has no time; pass queue.mark()");
    return std::chrono::duration<double>(stop.at_ - start.at_).count();
  }

 private:
  clock::time_point at_;
};

/// The processor's model name as the kernel gives it, or the word "host".
inline std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "host";
}

template <class Exec>
device_info describe_device(const Exec& exec) {
  using traits = backend::traits<Exec>;
  return {traits::name, processor_name(), int(exec.concurrency()), 0.0, traits::local_memory_limit(exec, 1)};
}

}  // namespace keramos::backend::host

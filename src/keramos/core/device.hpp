// Devices: all there are, and which to use (SYCL 2020, sections 4.6.1 "Device selection" and 4.6.4 "Device
// class").
//
//   int main() {
//     keramos::runtime guard(keramos::select_device(keramos::gpu_selector));   // before Kokkos is initialised
//
// A selector scores a device: the highest score wins, negative ones are out. One process runs on one device
// of a backend, which Kokkos is initialised with; queues are on it.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

using device_selector = std::function<int(const device_info&)>;

/// Every device of every backend in this build, the default backend's first. Kokkos need not be initialised;
/// until it is, local_memory_bytes is the hardware's number, of which Kokkos keeps some, and `units` of a host
/// its hardware threads.
inline std::vector<device_info> get_devices() {
  std::vector<device_info> all;
#define KERAMOS_ADD_DEVICES(Space) \
  for (auto& d : backend::device_list<Space>::all()) all.push_back(std::move(d));
  KERAMOS_FOR_EACH_SPACE(KERAMOS_ADD_DEVICES)
#undef KERAMOS_ADD_DEVICES
  const std::string first = backend::traits<default_execution_space>::name;
  std::stable_partition(all.begin(), all.end(), [&](const device_info& d) { return d.backend == first; });
  return all;
}

/// Any device, the default backend's first.
inline int default_selector(const device_info& d) {
  return d.backend == backend::traits<default_execution_space>::name ? 1 : 0;
}
inline int gpu_selector(const device_info& d) { return d.is_host ? -1 : 1; }
inline int cpu_selector(const device_info& d) { return d.is_host ? 1 : -1; }

/// The device with the highest score; of equal ones the first.
/// @throws error if every score is negative; the message lists the devices.
inline device_info select_device(const device_selector& selector) {
  const std::vector<device_info> all = get_devices();
  const device_info* best = nullptr;
  int best_score = -1;
  std::string list;
  for (const device_info& d : all) {
    list += (list.empty() ? "" : ", ") + d.backend + " " + d.name;
    if (const int score = selector(d); score > best_score) best = &d, best_score = score;
  }
  if (!best)
    throw error("keramos::select_device: the selector wants none of the devices of this build (" + list +
                "); configure with another KERAMOS_BACKEND, or select less strictly");
  return *best;
}

}  // namespace keramos

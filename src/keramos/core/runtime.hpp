// A guard for programs that leave Kokkos' start and end to Keramos.
#pragma once

#include <string>

#include <Kokkos_Core.hpp>

#include <keramos/config.hpp>
#include <keramos/core/device_info.hpp>
#include <keramos/core/error.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

/// Initialises Kokkos unless that is done already, and finalises only what it initialised.
/// Views and queues must be gone before the guard is.
class runtime {
 public:
  runtime() {
    if (!Kokkos::is_initialized()) Kokkos::initialize(), owns_ = true;
  }
  /// Takes Kokkos' own arguments (`--kokkos-...`) out of the command line.
  runtime(int& argc, char** argv) {
    if (!Kokkos::is_initialized()) Kokkos::initialize(argc, argv), owns_ = true;
  }
  /// On the device given: see select_device.
  /// @throws invalid_argument if it is not one of the default backend; error if Kokkos is initialised already.
  explicit runtime(const device_info& device) {
    const std::string ours = backend::traits<default_execution_space>::name;
    if (device.backend != ours)
      throw invalid_argument("keramos::runtime: device " + device.name + " is the " + device.backend +
                             " backend's, but queues of this build are on " + ours +
                             "; configure with -DKERAMOS_BACKEND=" + device.backend);
    if (Kokkos::is_initialized())
      throw error(
          "keramos::runtime: Kokkos is initialised already and stays on its device; select before it");
#if KOKKOS_VERSION >= 30700
    Kokkos::InitializationSettings settings;
    if (!device.is_host) settings.set_device_id(device.id);
#else
    Kokkos::InitArguments settings;
    if (!device.is_host) settings.device_id = device.id;
#endif
    Kokkos::initialize(settings);
    owns_ = true;
  }
  ~runtime() {
    if (owns_) Kokkos::finalize();
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

 private:
  bool owns_ = false;
};

}  // namespace keramos

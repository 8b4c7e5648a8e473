// Begins main: `keramos::runtime guard(argc, argv);` initialises Kokkos, and its destructor finalises it. A program that
// initialises Kokkos by itself needs none.
#pragma once

#include <string>

#include <Kokkos_Core.hpp>

#include <keramos/base/device_info.hpp>
#include <keramos/base/error.hpp>
#include <keramos/base/kokkos.hpp>
#include <keramos/config.hpp>
#include <keramos/enabled_backends.hpp>

namespace keramos {

/// Initialises Kokkos unless that is done already, and finalises only what it initialised.
/// Views must be gone before the guard is. Queues may outlive it, and then only be destroyed.
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
    detail::initialize_kokkos(device.is_host ? -1 : device.id);
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

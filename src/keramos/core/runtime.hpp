// A guard for programs that leave Kokkos' start and end to Keramos.
#pragma once

#include <Kokkos_Core.hpp>

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
  ~runtime() {
    if (owns_) Kokkos::finalize();
  }
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

 private:
  bool owns_ = false;
};

}  // namespace keramos

// Kokkos::Threads: a work-group a thread of Kokkos' own pool.
#pragma once

#include <exception>

#include <keramos/backends/host/traits.hpp>

namespace keramos::backend {

template <>
struct traits<Kokkos::Threads> : host::traits<Kokkos::Threads> {
  static constexpr const char* name = "threads";

  /// Kokkos::Threads takes launches from the thread that initialised Kokkos; on others it throws before it has
  /// changed anything. It has no question for that, so each thread tries once.
  static bool may_launch() {
    static thread_local const bool may = [] {
      try {
        Kokkos::parallel_for("keramos::may_launch", Kokkos::RangePolicy<Kokkos::Threads>(0, 0), nothing());
        return true;
      } catch (const std::exception&) {
        return false;
      }
    }();
    return may;
  }

 private:
  struct nothing {
    void operator()(int) const {}
  };
};

}  // namespace keramos::backend

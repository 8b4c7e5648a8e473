// For the files that include Kokkos: the queue behind the machine.
#pragma once

#include <keramos/core/queue.hpp>

namespace keramos::perf {

keramos::queue& machine_queue();

// Host threads that kernels on the queue use; 0 where it is on another device.
int host_threads();

// Seconds that what f() queues takes, on the device's clock.
template <class F>
double seconds_on_queue(const F& f) {
  auto& q = machine_queue();
  const auto start = q.mark();
  f();
  const auto stop = q.mark();
  stop.wait();
  return elapsed_seconds(start, stop);
}

}  // namespace keramos::perf

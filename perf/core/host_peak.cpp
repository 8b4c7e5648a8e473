#include "host_peak.hpp"

#include <time.h>

#include <algorithm>
#include <mutex>

#include "host_peak_kernel.hpp"
#include "parallel.hpp"

namespace keramos::perf {
namespace {

peak_kernels widest_kernels() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return peak_kernels_of<64>();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return peak_kernels_of<32>();
#endif
  return peak_kernels_of<16>();
}

double thread_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// The best rate of the calling thread over windows of 4 ms of its own CPU time: a peak is what the
// core can do, not what is left of it when others want it too.
double best_rate(const peak_kernel& kernel) {
  double best = 0;
  for (int window = 0; window < 25; ++window) {
    const double start = thread_seconds();
    double operations = 0, seconds = 0;
    while (seconds < 0.004) {
      constexpr long rounds = 20000;  // tens of microseconds: reading the clock costs nothing beside
      kernel.run(rounds);
      operations += kernel.operations_per_round * double(rounds);
      seconds = thread_seconds() - start;
    }
    best = std::max(best, operations / seconds);
  }
  return best;
}

}  // namespace

double measure_host_peak(data_type type, int threads) {
  const auto kernels = widest_kernels();
  const auto& kernel = type == data_type::f32   ? kernels.f32
                       : type == data_type::f64 ? kernels.f64
                                                : kernels.i32;
  double total = 0;
  std::mutex lock;
  run_on_threads(threads, [&](int) {
    const double rate = best_rate(kernel);
    const std::lock_guard hold(lock);
    total += rate;
  });
  return total;
}

}  // namespace keramos::perf

#include "host_peak.hpp"

#include <time.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>

#include "host.hpp"
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

double measure_host_peak(data_type of_product, int threads) {
  const auto type = multiplied_type(of_product);
  const auto kernels = widest_kernels();
  if (std::find(basic_types.begin(), basic_types.end(), type) == basic_types.end()) return 0;
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

namespace {

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Memory for vectors, its pages touched by the thread that will use it.
class aligned_block {
 public:
  explicit aligned_block(std::size_t bytes) : data_(static_cast<double*>(std::aligned_alloc(4096, bytes))) {
    if (data_ == nullptr) throw std::bad_alloc();
    std::memset(data_, 0, bytes);
  }
  ~aligned_block() { std::free(data_); }
  aligned_block(const aligned_block&) = delete;
  aligned_block& operator=(const aligned_block&) = delete;
  double* data() const { return data_; }

 private:
  double* data_;
};

// The best of several windows in which all threads work at once: work() returns the bytes it moved.
template <class Make>
double best_rate_of_threads(int threads, const Make& make) {
  constexpr int windows = 12;
  std::barrier together(threads);
  std::vector<std::vector<double>> bytes(windows, std::vector<double>(std::size_t(threads)));
  std::vector<std::vector<double>> seconds = bytes;
  run_on_threads(threads, [&](int thread) {
    auto work = [&] {
      try {
        return make();
      } catch (...) {  // no memory: the others must not wait for this thread
        together.arrive_and_drop();
        throw;
      }
    }();
    work();
    for (int w = 0; w < windows; ++w) {
      together.arrive_and_wait();
      const double start = wall_seconds();
      double& elapsed = seconds[std::size_t(w)][std::size_t(thread)];
      do {
        bytes[std::size_t(w)][std::size_t(thread)] += work();
        elapsed = wall_seconds() - start;
      } while (elapsed < 0.01);
    }
  });
  double best = 0;
  for (int w = 0; w < windows; ++w) {
    double rate = 0;
    for (int t = 0; t < threads; ++t)
      rate += bytes[std::size_t(w)][std::size_t(t)] / seconds[std::size_t(w)][std::size_t(t)];
    best = std::max(best, rate);
  }
  return best;
}

}  // namespace

double measure_host_read(std::size_t bytes_of_a_thread, int threads) {
  const auto read = widest_kernels().read;
  const std::size_t bytes = std::max<std::size_t>(bytes_of_a_thread / 4096, 1) * 4096;
  return best_rate_of_threads(threads, [&] {
    return [block = std::make_shared<aligned_block>(bytes), read, bytes] {
      constexpr std::size_t at_least = 1 << 20;  // so that the clock costs nothing beside
      const std::size_t rounds = (at_least + bytes - 1) / bytes;
      volatile double sink = 0;
      for (std::size_t r = 0; r < rounds; ++r) sink = read(block->data(), long(bytes / sizeof(double)));
      (void)sink;
      return double(rounds * bytes);
    };
  });
}

double measure_host_copy(int threads) {
  // Beyond all caches together, the other copy included: as many of the last level as threads may meet.
  const auto caches = host_caches();
  const int cores = caches.empty() ? threads : caches.back().cores;
  const auto last_levels = std::size_t((threads + cores - 1) / cores);
  const std::size_t all = std::max<std::size_t>(4 * cache_bytes() * last_levels, std::size_t(128) << 20);
  const std::size_t bytes = all / std::size_t(threads) / 4096 * 4096;
  return best_rate_of_threads(threads, [&] {
    return
        [from = std::make_shared<aligned_block>(bytes), to = std::make_shared<aligned_block>(bytes), bytes] {
          std::memcpy(to->data(), from->data(), bytes);
          return 2.0 * double(bytes);
        };
  });
}

}  // namespace keramos::perf

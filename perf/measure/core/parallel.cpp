#include "parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace keramos::perf {
namespace {

cpu_set_t startup_affinity;
bool startup_affinity_known = false;

void read_affinity() {
  CPU_ZERO(&startup_affinity);
  startup_affinity_known = sched_getaffinity(0, sizeof(startup_affinity), &startup_affinity) == 0;
}

#if defined(__linux__)
// .preinit_array runs before the constructors of shared libraries; an ordinary constructor of
// ours would run after libgomp's, too late.
void read_affinity_first(int, char**, char**) { read_affinity(); }
[[gnu::section(".preinit_array"), gnu::used]] void (*const preinit)(int, char**,
                                                                    char**) = read_affinity_first;
#endif

void set_affinity(const cpu_set_t& set) { sched_setaffinity(0, sizeof(set), &set); }

}  // namespace

const cpu_set_t& initial_affinity() {
  if (!startup_affinity_known) read_affinity();
  return startup_affinity;
}

int initial_cpu_count() { return std::max(1, CPU_COUNT(&initial_affinity())); }

void set_initial_affinity(const std::vector<int>& cpus) {
  CPU_ZERO(&startup_affinity);
  for (const int cpu : cpus) CPU_SET(cpu, &startup_affinity);
  startup_affinity_known = true;
  set_affinity(startup_affinity);
}

wide_affinity::wide_affinity() {
  CPU_ZERO(&before_);
  sched_getaffinity(0, sizeof(before_), &before_);
  set_affinity(initial_affinity());
}

wide_affinity::~wide_affinity() { set_affinity(before_); }

void run_on_threads(int threads, const std::function<void(int)>& f) {
  std::exception_ptr failure;
  std::mutex failure_lock;
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] {
      set_affinity(initial_affinity());
      try {
        f(t);
      } catch (...) {
        const std::lock_guard hold(failure_lock);
        if (!failure) failure = std::current_exception();
      }
    });
  }
  for (auto& thread : pool) thread.join();
  if (failure) std::rethrow_exception(failure);
}

void parallel_blocks(std::int64_t n, std::int64_t block,
                     const std::function<void(std::int64_t, std::int64_t)>& f) {
  const auto blocks = (n + block - 1) / block;
  const int threads = static_cast<int>(std::min<std::int64_t>(initial_cpu_count(), blocks));
  if (threads <= 1) {
    if (n > 0) f(0, n);
    return;
  }
  std::atomic<std::int64_t> next{0};
  run_on_threads(threads, [&](int) {
    for (auto b = next++; b < blocks; b = next++) f(b * block, std::min(n, (b + 1) * block));
  });
}

}  // namespace keramos::perf

// Threads for the harness' own work (filling, verifying, peak), apart from Kokkos so that the
// core needs none, and the CPU affinity the process was started with.
#pragma once

#include <sched.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace keramos::perf {

// The CPUs this process was given, read before any library's constructor ran. An OpenMP runtime
// with OMP_PROC_BIND pins the main thread to one core, and every thread created from it after
// that (a BLAS library's pool, say) would inherit that one core.
const cpu_set_t& initial_affinity();
int initial_cpu_count();
// Replaces it, for this thread and all that are made from now on.
void set_initial_affinity(const std::vector<int>& cpus);

// Gives the calling thread the initial CPUs back while it lives.
class wide_affinity {
 public:
  wide_affinity();
  ~wide_affinity();
  wide_affinity(const wide_affinity&) = delete;
  wide_affinity& operator=(const wide_affinity&) = delete;

 private:
  cpu_set_t before_;
};

// f(begin, end) over [0, n) in blocks, on all initial CPUs. The first exception is passed on.
void parallel_blocks(std::int64_t n, std::int64_t block,
                     const std::function<void(std::int64_t, std::int64_t)>& f);

// f(thread) on `threads` threads at once, free to use all initial CPUs.
void run_on_threads(int threads, const std::function<void(int)>& f);

}  // namespace keramos::perf

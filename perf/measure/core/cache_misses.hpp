// Cache misses of this process, counted by the processor (Linux' perf_event_open).
#pragma once

#include <cstdint>
#include <string>

namespace keramos::perf {

// Counts in user mode, in this thread and in those that it starts later.
class cache_miss_counter {
 public:
  cache_miss_counter();
  ~cache_miss_counter();
  cache_miss_counter(const cache_miss_counter&) = delete;
  cache_miss_counter& operator=(const cache_miss_counter&) = delete;

  const std::string& problem() const { return problem_; }  // why it cannot count; "": it can
  void begin();
  double end();  // misses since begin; NaN if it cannot count

 private:
  struct reading {
    std::uint64_t count, enabled_ns, running_ns;
  };
  bool read_now(reading& now) const;

  int descriptor_;
  std::string problem_;
  reading before_{};
};

// What it means that perf_event_open failed with this errno, and the cure where there is one.
std::string perf_event_problem(int error);

}  // namespace keramos::perf

#include "cache_misses.hpp"

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>

namespace keramos::perf {

std::string perf_event_problem(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "the kernel does not let this user count (sysctl kernel.perf_event_paranoid=2 does, and in a "
             "container the capability CAP_PERFMON)";
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "this machine shows no hardware counters, as most virtual machines do not";
    case ENOSYS:
      return "this kernel has no perf events";
  }
  return std::string("perf_event_open: ") + std::strerror(error);
}

cache_miss_counter::cache_miss_counter() {
  perf_event_attr what{};
  what.size = sizeof(what);
  what.type = PERF_TYPE_HARDWARE;
  what.config = PERF_COUNT_HW_CACHE_MISSES;
  what.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  what.disabled = 1;
  what.inherit = 1;
  what.exclude_kernel = 1;
  what.exclude_hv = 1;
  descriptor_ = int(syscall(SYS_perf_event_open, &what, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (descriptor_ < 0) problem_ = perf_event_problem(errno);
}

cache_miss_counter::~cache_miss_counter() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool cache_miss_counter::read_now(reading& now) const {
  return descriptor_ >= 0 && read(descriptor_, &now, sizeof(now)) == ssize_t(sizeof(now));
}

void cache_miss_counter::begin() {
  if (!read_now(before_)) return;
  ioctl(descriptor_, PERF_EVENT_IOC_ENABLE, 0);
}

double cache_miss_counter::end() {
  if (descriptor_ >= 0) ioctl(descriptor_, PERF_EVENT_IOC_DISABLE, 0);
  reading now{};
  if (!read_now(now) || now.running_ns == before_.running_ns) return std::numeric_limits<double>::quiet_NaN();
  // Where several share the counters, it ran for a part of the time.
  return double(now.count - before_.count) * double(now.enabled_ns - before_.enabled_ns) /
         double(now.running_ns - before_.running_ns);
}

}  // namespace keramos::perf

#include "progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <numeric>

namespace keramos::perf {

progress_line::progress_line(bool wanted) : on_(wanted && isatty(STDERR_FILENO) != 0) {}

void progress_line::show(const std::string& text) const {
  if (!on_) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
}
void progress_line::clear() const { show(""); }

time_left::time_left(std::vector<double> costs)
    : costs_(std::move(costs)), start_(std::chrono::steady_clock::now()) {}

double time_left::seconds(double elapsed) const {
  const auto middle = costs_.begin() + long(std::min(done_, costs_.size()));
  const double done = std::accumulate(costs_.begin(), middle, 0.0);
  const double rest = std::accumulate(middle, costs_.end(), 0.0);
  return done > 0 ? elapsed * rest / done : -1;
}

std::string time_left::text(double seconds) {
  if (seconds < 0) return {};
  if (seconds < 90) return fmt::format("about {:.0f} s left", std::ceil(seconds / 5) * 5);
  if (seconds < 90 * 60) return fmt::format("about {:.0f} min left", std::ceil(seconds / 60));
  return fmt::format("about {:.1f} h left", seconds / 3600);
}

std::string time_left::text() const {
  return text(seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()));
}

}  // namespace keramos::perf

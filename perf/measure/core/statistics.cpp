#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace keramos::perf {

double quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return std::numeric_limits<double>::quiet_NaN();
  const double at = q * double(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(at));
  const auto above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

summary summarize(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {static_cast<int>(values.size()), quantile(values, 0.5), quantile(values, 0),
          quantile(values, 0.75) - quantile(values, 0.25)};
}

int repetitions_within(double limit_s, double repetition_s, int wanted) {
  constexpr double least = 3;
  const double fit = std::floor(limit_s / repetition_s);  // may be more than an int holds
  return int(std::min(double(wanted), std::max(least, fit)));
}

}  // namespace keramos::perf

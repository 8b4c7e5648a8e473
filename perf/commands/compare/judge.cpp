#include "judge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "measure/core/statistics.hpp"

namespace keramos::perf {
namespace {

// As many as make the t-test's quantiles small, and as few as leave each block long.
constexpr int blocks_of_a_case = 8;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

// Of a median of independent, normally distributed times: 1.253 sigma / sqrt(n) where the interquartile range
// is 1.349 sigma. As a part of the median.
double error_of_median(const result_row& row) {
  return row.repetitions < 1 ? 0 : 0.929 * row.iqr_s / (row.median_s * std::sqrt(double(row.repetitions)));
}

}  // namespace

double student_tail(double t, int freedom) {
  if (t < 0) return 1 - student_tail(-t, freedom);
  // With t = sqrt(freedom) tan x the density is a power of cos x: Simpson's rule over the rest of [0, pi/2].
  const double first = std::atan(t / std::sqrt(double(freedom))), last = std::acos(0.0);
  constexpr int steps = 256;
  const double step = (last - first) / steps;
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const int weight = i == 0 || i == steps ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * std::pow(std::max(0.0, std::cos(first + i * step)), freedom - 1);
  }
  const double scale = std::exp(std::lgamma(0.5 * (freedom + 1)) - std::lgamma(0.5 * freedom));
  return scale / std::sqrt(2 * last) * sum * step / 3;
}

double student_quantile(double p, int freedom) {
  // All cases of a comparison ask for the same few.
  thread_local std::map<std::pair<double, int>, double> known;
  auto& quantile = known[{p, freedom}];
  if (quantile > 0) return quantile;
  double low = 0, high = 1;
  while (student_tail(high, freedom) > p) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (student_tail(middle, freedom) > p ? low : high) = middle;
  }
  return quantile = high;
}

double chance(const change_estimate& e, double level) {
  if (e.freedom < 1) return std::numeric_limits<double>::infinity();
  return e.error > 0 ? e.error * student_quantile(level, e.freedom) : 0;
}

relative_times relative_times_of(const result_row& row, const std::vector<const result_row*>& references,
                                 sample_kind samples) {
  relative_times t;
  const double share = references.empty() ? 0 : 1 / double(references.size());
  double variance = std::pow(error_of_median(row), 2);
  t.middle = std::log(row.median_s);
  t.repetitions = row.repetitions;
  std::size_t rounds = (row.*samples).size();
  for (const auto* r : references) {
    t.middle -= share * std::log(r->median_s);
    variance += std::pow(share * error_of_median(*r), 2);
    t.repetitions = std::min(t.repetitions, r->repetitions);
    rounds = std::min(rounds, (r->*samples).size());
  }
  t.error = std::sqrt(variance);
  for (std::size_t i = 0; i < rounds; ++i) {
    t.rounds.push_back(std::log((row.*samples)[i]));
    for (const auto* r : references) t.rounds.back() -= share * std::log((r->*samples)[i]);
  }
  return t;
}

std::vector<double> block_medians(const std::vector<double>& values, int count) {
  const auto blocks = std::min(std::size_t(count), values.size());
  std::vector<double> medians;
  for (std::size_t b = 0; b < blocks; ++b) {
    const auto at = [&](std::size_t block) { return values.begin() + long(block * values.size() / blocks); };
    medians.push_back(median({at(b), at(b + 1)}));
  }
  return medians;
}

change_estimate change_of_case(const relative_times& before, const relative_times& after) {
  if (before.rounds.empty() || after.rounds.empty()) {
    return {after.middle - before.middle, std::hypot(before.error, after.error),
            std::min(before.repetitions, after.repetitions) - 1};
  }
  const auto one = mean_of_blocks(block_medians(before.rounds, blocks_of_a_case));
  const auto other = mean_of_blocks(block_medians(after.rounds, blocks_of_a_case));
  return {median(after.rounds) - median(before.rounds), std::hypot(one.error, other.error),
          std::min(one.freedom, other.freedom)};
}

change_estimate mean_of_blocks(const std::vector<double>& changes) {
  if (changes.empty()) return {};
  const auto count = double(changes.size());
  double sum = 0, squares = 0;
  for (const double c : changes) sum += c;
  for (const double c : changes) squares += (c - sum / count) * (c - sum / count);
  return {sum / count, changes.size() < 2 ? 0 : std::sqrt(squares / (count - 1) / count),
          int(changes.size()) - 1};
}

}  // namespace keramos::perf

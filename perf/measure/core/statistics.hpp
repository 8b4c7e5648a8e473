// Order statistics of repetition times: robust against the odd slow repetition.
#pragma once

#include <vector>

namespace keramos::perf {

struct summary {
  int count = 0;
  double median = 0;
  double min = 0;
  double iqr = 0;  // third quartile minus first
};

// The quantile q in [0, 1] of sorted values, linear between neighbours (type 7 of Hyndman and
// Fan, 1996: what NumPy and R do unless told otherwise).
double quantile(const std::vector<double>& sorted, double q);

summary summarize(std::vector<double> values);

// How many repetitions of so many seconds are made: those that are wanted, fewer where they would take longer than
// the limit, but never less than 3 (unless fewer are wanted).
int repetitions_within(double limit_s, double repetition_s, int wanted);

}  // namespace keramos::perf

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

}  // namespace keramos::perf

// Two results files: which cases became slower, and by how much more than their spread explains.
#pragma once

#include <string>
#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

struct compare_limits {
  double warn = 1.10;
  double fail = 1.25;
};

enum class change { none, noise, faster, slower, much_slower, broken, gone };

// One case that the old file has.
struct case_change {
  std::string provider;
  std::string problem;
  std::string group;  // what the summary puts it under: provider, type and kind of shape
  double old_s = 0, new_s = 0;
  double ratio = 0;  // new time over old; above 1 is slower; 0 where one was not measured
  double noise = 0;  // the part of the ratio that the repetitions' spread explains: ratio +- noise
  change verdict = change::none;
};

struct class_summary {
  std::string group;
  int cases = 0;
  double mean = 0;  // geometric, of the ratios
  double worst = 0;
  std::string worst_problem;
};

struct comparison {
  std::vector<case_change> cases;
  std::vector<class_summary> classes;
  int added = 0;  // cases that only the new file has
};

// The notch of a box plot around a median, median +- 1.57 IQR / sqrt(n): where two notches do not meet,
// the medians differ at about the 95 % level (McGill, Tukey and Larsen, Variations of Box Plots, The
// American Statistician 32, 1978). As a part of the median. compare() takes no
// notch to be narrower than the median notch of its group.
double relative_notch(const result_row& row);

// A ratio counts when it is beyond a limit and the notches do not meet.
change judge(double ratio, double old_notch, double new_notch, const compare_limits& limits);

// "small" (up to 64^3), "square", "deep" (k at least 8 times the others), "flat" (k at most an eighth:
// outer products) or "skinny"; "" for rows without m, n, k.
std::string kind_of_shape(const result_row& row);

comparison compare(const std::vector<result_row>& before, const std::vector<result_row>& after,
                   const compare_limits& limits);

// What makes the two files incomparable, each as one line that says how to insist; empty if nothing.
std::vector<std::string> differences(const results_file& before, const results_file& after,
                                     const std::vector<std::string>& providers, bool devices_may_differ,
                                     bool baselines_may_differ);

}  // namespace keramos::perf

// Two results files: which cases and groups of cases became slower beyond chance (judge.hpp says how that is known).
#pragma once

#include <string>
#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

struct compare_limits {
  double warn = 1.10;   // of one case: worth a line
  double fail = 1.25;   // of one case: a failure
  double group = 1.03;  // of the mean of a group of cases: a failure
};

enum class change { none, noise, faster, slower, much_slower, broken, gone };

// One case that the old file has. Of a judged provider the ratio is that of its time over the other providers'
// (judge.hpp); of others, and where there are none in both files, that of its time.
struct case_change {
  std::string provider;
  std::string problem;
  std::string group;  // what the summary puts it under: provider, type and kind of shape
  double old_s = 0, new_s = 0;
  double ratio = 0;  // new over old; above 1 is slower; 0 where one was not measured
  double noise = 0;  // the part of the ratio that chance explains: ratio +- noise; infinite: not known
  change verdict = change::none;
};

// The cases of a group together: a slowdown that is too small to be seen in one of them.
struct class_summary {
  std::string group;
  int cases = 0;
  double mean = 0;   // geometric, of the ratios
  double noise = 0;  // as of a case
  double worst = 0;
  std::string worst_problem;
  change verdict = change::none;  // none, noise, faster or much_slower
};

struct comparison {
  std::vector<case_change> cases;
  std::vector<class_summary>
      classes;    // all cases of each judged provider, then provider, type, kind of shape
  int added = 0;  // cases that only the new file has
  // Judged cases: by the rounds of both files; by medians, where a file has no samples; by their times alone,
  // because no other provider was measured beside them.
  int by_rounds = 0, by_medians = 0, alone = 0;
  int by_cpu = 0;  // of those by rounds: by CPU time
};

// The chance of a false alarm anywhere in a comparison, shared by all that is judged: half of it for the
// providers as a whole, a quarter for classes, a quarter for cases.
constexpr double false_alarms = 0.01;

// A ratio counts when it is beyond a limit and its logarithm beyond chance.
change judge(double ratio, double chance, const compare_limits& limits);

// "small" (up to 64^3), "square", "deep" (k at least 8 times the others), "flat" (k at most an eighth:
// outer products) or "skinny"; "" for rows without m, n, k.
std::string kind_of_shape(const result_row& row);

// `judged`: providers whose rows are judged; the others are what they are measured against.
comparison compare(const std::vector<result_row>& before, const std::vector<result_row>& after,
                   const std::vector<std::string>& judged, const compare_limits& limits);

// What makes the two files incomparable, each as one line that says how to insist; empty if nothing.
std::vector<std::string> differences(const results_file& before, const results_file& after,
                                     const std::vector<std::string>& providers, bool devices_may_differ,
                                     bool baselines_may_differ);

}  // namespace keramos::perf

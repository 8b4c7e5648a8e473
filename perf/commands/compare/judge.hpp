// Whether a change of times is more than chance: the statistics of compare.
//
// Repetitions are not independent. What else runs on the machine comes in bursts of seconds, far longer than a
// repetition, so the spread of neighbouring repetitions says little of how far the next run will be off.
// Therefore:
//  1. What is judged are ratios. A round measures all providers in turn, and what slows one mostly slows
//     its neighbours: of each round the time over the (geometric mean of the) other providers' counts
//     (duet measurements: Bulej et al., Duet Benchmarking, ICPE 2020).
//     Where all ran on one CPU it is their CPU time, of which other processes take nothing.
//  2. What is close in time is one sample. Contiguous rounds are a block, of which only the median counts;
//     of several cases each is one block. The blocks' changes go into Student's t-test, which holds where
//     blocks are hardly correlated, whatever the correlation within them and however unequal their noise
//     (Ibragimov and Mueller, t-Statistic Based Correlation and Heterogeneity Robust Inference, Journal of
//     Business & Economic Statistics 28, 2010).
//  3. One case alone is one burst away from any ratio: its change must also stand out of the changes of the
//     other cases of its group.
#pragma once

#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

// A change as the logarithm of new over old, with its standard error.
struct change_estimate {
  double change = 0;
  double error = 0;
  int freedom = 0;  // degrees of freedom of the error; 0: the error is not known
};

// How far off an estimate of no change may be: further up, or further down, with the probability `level` each.
// Infinite where the error is not known.
double chance(const change_estimate& e, double level);

// P(T > t) of Student's distribution.
double student_tail(double t, int freedom);
// The t for which that is p < 0.5.
double student_quantile(double p, int freedom);

// One case in one file: of each round the logarithm of the time of a provider over those of its references
// (geometric mean; none: of the time itself).
struct relative_times {
  std::vector<double> rounds;  // empty: the file has medians and spreads only
  double middle = 0;           // of the medians
  double error = 0;            // of the middle, as if repetitions were independent
  int repetitions = 0;
};
// Which samples of a row: of wall time or of CPU time.
using sample_kind = std::vector<double> result_row::*;
relative_times relative_times_of(const result_row& row, const std::vector<const result_row*>& references,
                                 sample_kind samples);

// The medians of `count` blocks of neighbouring values, or of as many as there are values.
std::vector<double> block_medians(const std::vector<double>& values, int count);

// One case: blocks of rounds if both files have them, medians and spreads otherwise.
change_estimate change_of_case(const relative_times& before, const relative_times& after);

// The mean of such values, each a block of its own: 0 degrees of freedom for fewer than 2.
change_estimate mean_of_blocks(const std::vector<double>& changes);

}  // namespace keramos::perf

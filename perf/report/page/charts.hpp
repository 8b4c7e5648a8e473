// The plots of a results file.
#pragma once

#include <string>
#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

// Of the rows of a job's ranks, for each provider and problem the one of the (lower) median rank; rows
// of no job stay as they are.
std::vector<result_row> median_ranks(const std::vector<result_row>& rows);

// One of the ladder's own kernels, which are no baselines.
bool is_ladder_step(const result_row& r);

// HTML figures: for each type, op and layout the rates of squares as curves over the size, with bands as wide as the
// interquartile range, and those of other shapes as bars; the arithmetic peak across. Batches and kernel families in
// bytes a second; a ladder's steps as bars with their gains. Each is drawn twice, wide and narrow, and has its numbers
// as a table.
std::vector<std::string> charts_of(const results_file& file, const std::vector<result_row>& rows);

}  // namespace keramos::perf

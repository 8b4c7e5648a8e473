// The top of a page: is all right, what is not and why, and how Keramos stands beside the others.
#pragma once

#include <string>
#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

// How many results are right; then what is wrong, failed or missing, each with its reason.
std::string verification(const results_file& file, const nlohmann::ordered_json& job);

// Keramos beside each other provider, for each type; "" if there is none. `rows`: one for each provider and problem.
std::string comparison(const std::vector<result_row>& rows);

// How much faster a row of Keramos' is than another of the same problem, with the interquartile range of that ratio: of the
// rounds' ratios if both rows have samples, otherwise from the spreads of both.
struct rate_ratio {
  double value = 0, low = 0, high = 0;
};
rate_ratio ratio_of(const result_row& own, const result_row& other);
std::string ratio_text(const rate_ratio& r);  // "1.08 (1.05–1.10)"

}  // namespace keramos::perf

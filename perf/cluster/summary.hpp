// What the rows of many ranks say about the ranks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace keramos::perf {

// One case and provider over the ranks.
struct ranks_of_case {
  std::string provider, problem;
  int ranks = 0;  // that measured it
  double median_s =
      0;  // the lower median of the ranks' medians, so that of two ranks the faster is the measure
  double fastest_s = 0, slowest_s = 0;
  int fastest_rank = 0, slowest_rank = 0;
  std::vector<int> outliers;  // slower than the median by more than the limit and their repetitions' spread
  double spread() const { return (slowest_s - fastest_s) / median_s; }
};

// A rank or a node: its time over the job's median, in geometric mean over cases and providers.
struct member_of_job {
  std::string name;  // "rank 3" or a host's name
  double relative_time = 0;
  bool is_outlier = false;
};

struct job_summary {
  std::vector<ranks_of_case> cases;
  std::vector<member_of_job> ranks, nodes;
};

// rows: as in the results file, with "rank"; hosts[rank]: where it ran.
job_summary summarize_job(const nlohmann::ordered_json& rows, const std::vector<std::string>& hosts,
                          double limit);

// A line for ranks, as described in the results file, that use a CPU or a GPU together.
std::vector<std::string> shared_devices(const nlohmann::ordered_json& ranks);

std::string lines_of_case(const job_summary& summary, const std::vector<std::string>& hosts,
                          std::size_t first);
std::string text_of_members(const job_summary& summary, double limit);
nlohmann::ordered_json to_json(const job_summary& summary, double limit);

}  // namespace keramos::perf

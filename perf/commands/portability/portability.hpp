// Performance portability after Pennycook, Sewall and Lee (A Metric for Performance Portability, 2016;
// Future Generation Computer Systems 92, 2019): for an application a that solves problem p on every
// platform of the set H, the harmonic mean of its efficiencies there; 0 if it does not run on one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/read.hpp"

namespace keramos::perf {

// Of the best known rate on that platform, any provider's; or of its arithmetic peak.
enum class efficiency_kind { application, architectural };

struct application_portability {
  std::string provider;
  std::map<std::string, double> efficiency;  // by platform: geometric mean over the problems; 0: unsupported
  double metric = 0;                         // over all platforms
  std::map<std::string, double> metric_of_problem;  // by problem, over all platforms
};

struct portability_result {
  std::vector<std::string> platforms;
  std::vector<std::string> problems;                  // measured on all platforms
  std::vector<application_portability> applications;  // in the order of the files
};

double pennycook(const std::vector<double>& efficiencies);

// Files of the same platform are one; of rows that both have, the faster counts. Throws usage_error if
// fewer than two platforms or no common problem remain, or if a peak is needed that is not known.
portability_result portability(const std::vector<results_file>& files, efficiency_kind kind);

// Sewall, Pennycook, Jacobsen, Deakin and McIntosh-Smith, Interpreting and Visualizing Performance
// Portability Metrics (P3HPC 2020): platforms from an application's best to its worst, its efficiency
// there (line) and the metric over those so far (dashed). `least`: applications on fewer platforms are left out.
std::string cascade_plot(const portability_result& result, efficiency_kind kind, std::size_t least);

}  // namespace keramos::perf

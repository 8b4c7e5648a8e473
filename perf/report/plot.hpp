// Pictures: perf/plot.py, run where python3 has matplotlib.
#pragma once

#include <string>

namespace keramos::perf {

// Draws a results file as <base>.png and <base>.svg. `folder` holds plot.py. Throws std::runtime_error that
// says what to install if it cannot.
void draw_plot(const std::string& folder, const std::string& results_file, const std::string& base);

}  // namespace keramos::perf

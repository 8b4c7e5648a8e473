// Charts as SVG text, for pages and files that need nothing else to be seen.
#pragma once

#include <string>
#include <vector>

namespace keramos::perf {

struct chart_point {
  double x = 0, y = 0;
  double low = 0, high = 0;  // ends of the band around y; both 0: none
  bool marked_wrong = false;
  std::string color = {};  // of this bar alone; "": the series'
  std::string note = {};   // at the end of a bar
};

struct chart_series {
  std::string label;
  std::string color;
  std::vector<chart_point> points;
  bool dashed = false;
  bool strong = false;  // drawn thicker and on top
};

struct chart_line {  // across the whole chart
  double y = 0;
  std::string text;
};

struct line_chart {
  std::string title, x_label, y_label;
  std::vector<chart_series> series;
  std::vector<chart_line> lines;
  std::vector<std::pair<double, std::string>> x_ticks;  // empty: the points' x
  bool log_x = false;
  double y_max = 0;  // 0: what the data need
  int width = 560, height = 360;

  std::string svg() const;
};

// Groups of bars to the right, one group for each problem that is no point of a curve.
struct bar_chart {
  std::string title, x_label;
  std::vector<std::string> groups;
  std::vector<chart_series> series;  // x of a point is the number of its group
  chart_line peak;                   // text empty: none
  int width = 560;

  std::string svg() const;
};

// The same colour for the same library everywhere; `index` tells others apart.
std::string color_of_provider(const std::string& provider, std::size_t index);

// For text and attributes of XML and HTML.
std::string escaped(const std::string& text);

// 1, 2 or 5 times a power of ten: about `wanted` steps up to `top`.
double nice_step(double top, int wanted);

}  // namespace keramos::perf

// Charts as SVG text, for pages and files that need nothing else to be seen.
//
// A chart alone is drawn for a light background. Its parts have classes (ink, grid, halo, s0 to s7), so that a page's
// style can give them other colours. Text is 12 units high: drawn at its own width or wider it is readable.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace keramos::perf {

struct chart_point {
  double x = 0, y = 0;
  double low = 0, high = 0;  // ends of the band around y; both 0: none
  bool marked_wrong = false;
  int style = -1;         // of this bar alone; -1: the series'
  std::string note = {};  // at the end of a bar
};

struct chart_series {
  std::string label;
  int style = 0;  // of series_styles
  std::vector<chart_point> points;
  bool strong = false;  // drawn thicker and on top
  bool dotted = false;  // a thin dotted line without markers, whatever the style says
};

struct chart_line {  // across the whole chart
  double y = 0;
  std::string text;
};

// Wide: 600 units, names beside the ends of the curves. Narrow: 320 units, for phones.
enum class chart_size { wide, narrow };

struct line_chart {
  std::string title;        // drawn above; empty: it is said elsewhere
  std::string description;  // for who cannot see it; empty: the title
  std::string x_label, y_label;
  std::vector<chart_series> series;
  std::vector<chart_line> lines;
  bool log_x = false;
  double y_max = 0;  // 0: what the data need

  // Each x of a point has a tick. Those closer than a label are spread apart, so that 1023, 1024 and 1025 can be told apart.
  std::string svg(chart_size size = chart_size::wide) const;
};

// Groups of bars to the right, one group for each problem that is no point of a curve. The note stands at the end of its bar.
struct bar_chart {
  std::string title, description, x_label;
  std::vector<std::string> groups;
  std::vector<chart_series> series;  // x of a point is the number of its group
  chart_line peak;                   // text empty: none

  std::string svg(chart_size size = chart_size::wide) const;
};

// What tells series apart: colours (4.5 : 1 against the background and more), dashes and the shapes of markers.
struct series_style {
  const char *light, *dark;  // colours on a light and on a dark background
  const char* dashes;        // "": none
};
extern const std::array<series_style, 8> series_styles;

// A style for each: the same one for the same library everywhere, no style twice while there are others.
std::vector<int> styles_of(const std::vector<std::string>& providers);

// Where values of an axis from `begin` to `end` go: as their logarithms or values say, but at least `least` apart; all equally
// far apart where there is no room for that. `sorted`: without duplicates.
std::vector<double> axis_positions(const std::vector<double>& sorted, bool logarithmic, double begin,
                                   double end, double least);

// For text and attributes of XML and HTML.
std::string escaped(const std::string& text);

// 1, 2 or 5 times a power of ten: about `wanted` steps up to `top`.
double nice_step(double top, int wanted);

}  // namespace keramos::perf

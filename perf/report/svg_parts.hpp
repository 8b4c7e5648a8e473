// What the charts are put together from; only they include it.
#pragma once

#include <string>
#include <vector>

#include "svg.hpp"

namespace keramos::perf::svg {

constexpr double font_size = 12;

// The opening tag and the title, if there is one. `description` is what screen readers say.
std::string opening(const std::string& title, const std::string& description, double width, double height);

// anchor: "start", "middle" or "end".
std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& extra = {});
double text_width(const std::string& text);  // of a wide font: an upper bound for most

// Classes are those of the page's style; the colour is for charts alone.
std::string line(double x1, double y1, double x2, double y2, const char* css_class, const char* color,
                 const char* extra = "");
std::string axis_line(double x1, double y1, double x2, double y2);
std::string grid_line(double x1, double y1, double x2, double y2);
std::string limit_line(double x1, double y1, double x2, double y2);  // dashed: a peak

// A group whose parts have the style's colour as currentColor.
std::string group_of(int style, const std::string& parts);
// Each style has a shape of its own. `radius` is half its size.
std::string marker(int style, double x, double y, double radius, const std::string& tooltip);
std::string dashes_of(int style);  // an attribute, or nothing

std::string number(double value);
double top_of(const std::vector<chart_series>& series);  // the greatest finite value, 1 if there is none

struct scale {
  double from, to, begin, end;
  double operator()(double v) const {
    return to <= from ? (begin + end) / 2 : begin + (v - from) / (to - from) * (end - begin);
  }
};

}  // namespace keramos::perf::svg

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "svg_parts.hpp"

namespace keramos::perf {
namespace {

using namespace svg;

constexpr double line_height = 15, sample_width = 26;

// A piece of the curve, for its name.
std::string sample(const chart_series& s, double x, double y) {
  return group_of(
      s.style, fmt::format(R"(<path d="M{:.1f},{:.1f}h{}" stroke="currentColor" stroke-width="{}" {}/>)", x,
                           y, sample_width, s.strong ? 2.6 : 1.8, dashes_of(s.style)) +
                   marker(s.style, x + sample_width / 2, y, 4, {}));
}

// Long names with a version stand in two lines.
std::vector<std::string> lines_of(const std::string& label) {
  const auto dash = label.find('-');
  if (label.size() <= 14 || dash == std::string::npos) return {label};
  return {label.substr(0, dash), label.substr(dash + 1)};
}

double names_width(const std::vector<chart_series>& series) {
  double widest = 0;
  for (const auto& s : series) {
    for (const auto& part : lines_of(s.label))
      widest = std::max(widest, (s.strong ? 1.15 : 1) * text_width(part));  // those are bold
  }
  return widest;
}

// Names above the curves, as many in a line as fit. Adds to y what they took.
std::string names_above(const std::vector<chart_series>& series, double width, double& y) {
  std::string out;
  double x = 4;
  for (const auto& s : series) {
    if (s.label.empty()) continue;
    const double needed = sample_width + 18 + text_width(s.label);
    if (x + needed > width && x > 4) x = 4, y += line_height + 3;
    out += sample(s, x, y - 4) + text_at(x + sample_width + 5, y, "start", s.label);
    x += needed;
  }
  y += line_height + 6;
  return out;
}

// What the axes of this chart are.
struct axes {
  std::map<double, double> x;  // where each value is
  scale y;
  double x_begin, x_end;
};

// Names beside the ends of their curves, pushed apart where they would overlap.
std::string names_beside(const std::vector<chart_series>& series, const axes& a) {
  struct name {
    const chart_series* of;
    double wanted, top, height;
  };
  std::vector<name> names;
  for (const auto& s : series) {
    if (s.label.empty() || s.points.empty()) continue;
    const double height = line_height * double(lines_of(s.label).size()) + 3;
    const double at = a.y(s.points.back().y);
    names.push_back({&s, at, at - height / 2, height});
  }
  std::sort(names.begin(), names.end(), [](const auto& p, const auto& q) { return p.wanted < q.wanted; });
  double free_from = a.y.end - 6;
  for (auto& n : names) free_from = (n.top = std::max(n.top, free_from)) + n.height;
  double free_to = a.y.begin + 6;
  for (auto n = names.rbegin(); n != names.rend(); ++n)
    free_to = n->top = std::min(n->top, free_to - n->height);

  std::string out;
  const double x = a.x_end + 24;
  for (const auto& n : names) {
    const auto& last = n.of->points.back();
    const double middle = n.top + n.height / 2;
    out += group_of(n.of->style, fmt::format(R"(<path class="leader" d="M{:.1f},{:.1f}L{:.1f},{:.1f}" )"
                                             R"(stroke="currentColor" stroke-opacity="0.6"/>)",
                                             a.x.at(last.x) + 6, n.wanted, x - 3, middle));
    out += sample(*n.of, x, middle);
    const auto parts = lines_of(n.of->label);
    double at = middle + 4 - line_height * double(parts.size() - 1) / 2;
    for (const auto& part : parts) {
      out += text_at(x + sample_width + 6, at, "start", part, n.of->strong ? R"(font-weight="bold")" : "");
      at += line_height;
    }
  }
  return out;
}

std::string band_of(const chart_series& s, const axes& a) {
  std::string upper, lower;
  for (const auto& p : s.points) {
    if (p.low == 0 && p.high == 0) return {};
    upper += fmt::format("{:.1f},{:.1f} ", a.x.at(p.x), a.y(p.high));
    lower = fmt::format("{:.1f},{:.1f} ", a.x.at(p.x), a.y(p.low)) + lower;
  }
  return group_of(s.style, fmt::format(R"(<polygon points="{}{}" fill="currentColor" fill-opacity="0.2"/>)",
                                       upper, lower));
}

std::string curve_of(const chart_series& s, const axes& a) {
  std::string points, marks;
  for (const auto& p : s.points) {
    points += fmt::format("{:.1f},{:.1f} ", a.x.at(p.x), a.y(p.y));
    if (s.dotted) continue;
    marks += marker(s.style, a.x.at(p.x), a.y(p.y), s.strong ? 4 : 3.6,
                    fmt::format("{}: {}, {}", s.label, number(p.x), number(p.y)));
    if (p.marked_wrong)
      marks += text_at(a.x.at(p.x), a.y(p.y) - 6, "middle", "✗ wrong", R"(font-weight="bold")");
  }
  return group_of(
      s.style,
      fmt::format(R"(<polyline points="{}" fill="none" stroke="currentColor" stroke-width="{}" {}/>)", points,
                  s.dotted   ? 1.2
                  : s.strong ? 2.6
                             : 1.8,
                  s.dotted ? R"(stroke-dasharray="1 3")" : dashes_of(s.style)) +
          marks);
}

std::vector<double> all_x(const std::vector<chart_series>& series) {
  std::vector<double> all;
  for (const auto& s : series) {
    for (const auto& p : s.points) all.push_back(p.x);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::string line_chart::svg(chart_size size) const {
  const bool narrow = size == chart_size::narrow;
  const double width = narrow ? 320 : 600;
  double y = title.empty() ? 18 : 42;
  std::string names;
  if (narrow) names = names_above(series, width, y);

  double top = y_max > 0 ? y_max : top_of(series) * 1.08;
  if (y_max <= 0) {
    for (const auto& l : lines) top = std::max(top, l.y * 1.1);
  }
  double label_width = 0;
  const double step = nice_step(top, narrow ? 5 : 6);
  for (double v = 0; v <= top * 1.0001; v += step) label_width = std::max(label_width, text_width(number(v)));
  const double x_begin = label_width + 10,
               x_end = width - (narrow ? 8 : names_width(series) + sample_width + 34);
  const double y_top = y + 14, y_bottom = y_top + (narrow ? 210 : 262);
  axes a{{}, {0, top, y_bottom, y_top}, x_begin, x_end};

  // Labels side by side where there is room, else upright.
  const auto values = all_x(series);
  double widest = 0;
  for (const double v : values) widest = std::max(widest, text_width(number(v)));
  const double inset = std::min(12.0, widest / 2), room = x_end - x_begin - 2 * inset;
  const bool upright = double(values.size() - (values.empty() ? 0 : 1)) * (widest + 6) > room;
  const double least = upright ? 15 : widest + 6;
  const auto positions = axis_positions(values, log_x, x_begin + inset, x_end - inset, least);
  for (std::size_t i = 0; i < values.size(); ++i) a.x[values[i]] = positions[i];
  // Upright ones in two rows where one is too tight, as on phones.
  const bool two_rows = upright && room < 13.5 * double(values.size() - 1);
  const double row_height = widest + 8;
  const double labels_end = y_bottom + (upright ? (two_rows ? 2 : 1) * row_height + 4 : 20);

  std::string out = opening(title, description, width, labels_end + 26) + names;
  out += text_at(4, y, "start", y_label);
  for (double v = 0; v <= top * 1.0001; v += step) {
    out += grid_line(x_begin, a.y(v), x_end, a.y(v)) + text_at(x_begin - 5, a.y(v) + 4, "end", number(v));
  }
  double last[] = {-INFINITY, -INFINITY};
  int row = 0;
  for (const auto& [value, at] : a.x) {
    const double below = y_bottom + row_height * row;
    out += axis_line(at, y_bottom, at, y_bottom + 5);
    if (at - last[row] < (upright ? 13.5 : widest)) continue;  // more sizes than fit
    last[row] = at;
    if (row == 1) out += grid_line(at, y_bottom + 5, at, below + 5);
    const auto turn = fmt::format(R"-(transform="rotate(-90 {:.1f} {:.1f})")-", at + 4, below + 9);
    out += upright ? text_at(at + 4, below + 9, "end", number(value), turn)
                   : text_at(at, y_bottom + 18, "middle", number(value));
    if (two_rows) row = 1 - row;
  }
  out += axis_line(x_begin, y_bottom, x_end, y_bottom);
  out += text_at((x_begin + x_end) / 2, labels_end + 16, "middle", x_label);
  for (const auto& l : lines) {
    out +=
        limit_line(x_begin, a.y(l.y), x_end, a.y(l.y)) + text_at(x_begin + 4, a.y(l.y) - 4, "start", l.text);
  }
  for (const auto& s : series) out += band_of(s, a);
  for (const bool strong : {false, true}) {
    for (const auto& s : series) {
      if (s.strong == strong) out += curve_of(s, a);
    }
  }
  if (!narrow) out += names_beside(series, a);
  return out + "</svg>\n";
}

}  // namespace keramos::perf

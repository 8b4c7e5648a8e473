#include <fmt/format.h>

#include <algorithm>

#include "svg_parts.hpp"

namespace keramos::perf {
namespace {

using namespace svg;

constexpr double bar = 16, gap = 12, margin = 10;

double widest_note(const std::vector<chart_series>& series) {
  double widest = 0;
  for (const auto& s : series) {
    for (const auto& p : s.points)
      widest = std::max(widest, text_width(p.note + (p.marked_wrong ? " ✗ wrong" : "")));
  }
  return widest;
}

// The bar, its spread, and its note beyond its end or, where there is no room, inside.
std::string bar_of(const chart_series& s, const chart_point& p, const scale& x, double at, double right) {
  const double end = x(p.y), middle = at + (bar - 2) / 2;
  auto out = group_of(
      p.style >= 0 ? p.style : s.style,
      fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" fill="currentColor"><title>{}: {}</title></rect>)",
          x.begin, at, std::max(0.5, end - x.begin), bar - 2, escaped(s.label), number(p.y)));
  const double low = p.high > 0 ? x(p.low) : end, high = p.high > 0 ? x(p.high) : end;
  if (high - low > 1) {  // thinner ones could not be seen
    out += line(low, middle, high, middle, "halo", "white", R"(stroke-width="5")") +
           line(low, middle, high, middle, "axis", "#1d1f23", R"(stroke-width="2")");
  }
  const auto note = p.note + (p.marked_wrong ? " ✗ wrong" : "");
  const double width = text_width(note);
  const bool outside = high + 6 + width <= right || low - 6 - width < x.begin;
  if (note.empty()) return out;
  if (outside) return out + text_at(high + 5, middle + 4, "start", note);
  return out +
         fmt::format(R"(<text class="on-bar" x="{:.1f}" y="{:.1f}" text-anchor="end" fill="white">{}</text>)",
                     low - 5, middle + 4, escaped(note));
}

}  // namespace

std::string bar_chart::svg(chart_size size) const {
  const bool narrow = size == chart_size::narrow;
  const double width = narrow ? 320 : 600;
  double label_width = 0;
  for (const auto& g : groups) label_width = std::max(label_width, text_width(g));
  const double above = narrow ? 18 : 0;  // the height of a group's label that stands above
  const double x_begin = narrow ? margin : std::min(label_width + 14, 260.0);
  const double group_height = above + bar * double(series.size()) + gap;
  const double y_top = (title.empty() ? 6 : 28) + (peak.text.empty() ? 0 : 32),
               y_bottom = y_top + group_height * double(groups.size());

  double top = top_of(series) * 1.03;
  if (!peak.text.empty()) top = std::max(top, peak.y * 1.03);
  // Where a note may fit neither beyond the end of its bar nor inside, bars are shorter.
  const double right = width - margin, note_width = widest_note(series);
  const bool in_the_way = right - x_begin < 2 * note_width + 30;
  const scale x{0, top, x_begin, in_the_way ? right - note_width - 10 : right - 12};

  std::string out = opening(title, description, width, y_bottom + 44);
  const double step = nice_step(top, narrow || in_the_way ? 3 : 5);
  for (double v = 0; v <= top * 1.0001; v += step) {
    out += grid_line(x(v), y_top, x(v), y_bottom) + text_at(x(v), y_bottom + 16, "middle", number(v));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const double at = y_top + group_height * double(i);
    if (narrow) {
      out += text_at(x_begin + 2, at + gap / 2 + 13, "start", groups[i], R"(font-weight="bold")");
    } else {
      out += text_at(x_begin - 6, at + group_height / 2 + 4, "end", groups[i]);
    }
  }
  if (!peak.text.empty()) {
    const bool to_the_left = x(peak.y) - text_width(peak.text) > 0;
    out +=
        limit_line(x(peak.y), y_top - 4, x(peak.y), y_bottom) +
        text_at(to_the_left ? x(peak.y) + 4 : margin, y_top - 10, to_the_left ? "end" : "start", peak.text);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (const auto& p : series[i].points)
      out += bar_of(series[i], p, x, y_top + gap / 2 + above + group_height * p.x + bar * double(i), right);
  }
  out += axis_line(x_begin, y_top, x_begin, y_bottom);
  out += text_at((x.begin + x.end) / 2, y_bottom + 34, "middle", x_label);
  return out + "</svg>\n";
}

}  // namespace keramos::perf

#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace keramos::perf {
namespace {

constexpr const char* ink = "#333333";
constexpr const char* faint = "#dddddd";

std::string text_at(double x, double y, const char* anchor, const std::string& text, int size = 11,
                    const char* extra = "") {
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}" font-size="{}" fill="{}" {}>{}</text>)",
                     x, y, anchor, size, ink, extra, escaped(text));
}

std::string straight(double x1, double y1, double x2, double y2, const char* color, const char* extra = "") {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" {}/>)", x1, y1, x2,
                     y2, color, extra);
}

std::string number(double value) {
  return std::abs(value) >= 10000 ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string opening(const std::string& title, int width, int height) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" )"
      R"(aria-label="{2}" font-family="system-ui, 'DejaVu Sans', sans-serif">)"
      R"(<rect width="{0}" height="{1}" fill="white"/>)"
      R"(<text x="12" y="20" font-size="13" font-weight="bold" fill="{3}">{2}</text>)",
      width, height, escaped(title), ink);
}

// Labels side by side, as many in a line as fit. Returns the height it took.
int legend(std::string& out, const std::vector<chart_series>& series, int width, double top) {
  double x = 60, y = top;
  for (const auto& s : series) {
    if (s.label.empty()) continue;
    const double needed = 34 + 6.6 * double(s.label.size());
    if (x + needed > width - 10 && x > 60) x = 60, y += 18;
    out += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="18" height="4" fill="{}"/>)", x, y - 6, s.color);
    out += text_at(x + 23, y, "start", s.label);
    x += needed;
  }
  return int(y - top) + 18;
}

double top_of(const std::vector<chart_series>& series) {
  double top = 0;
  for (const auto& s : series) {
    for (const auto& p : s.points) {
      for (const double v : {p.y, p.high}) {
        if (std::isfinite(v)) top = std::max(top, v);  // an axis to infinity would have no end of marks
      }
    }
  }
  return top > 0 ? top : 1;
}

struct scale {
  double from, to, begin, end;
  bool logarithmic = false;
  double operator()(double v) const {
    if (to <= from) return (begin + end) / 2;
    const double part = logarithmic ? std::log(v / from) / std::log(to / from) : (v - from) / (to - from);
    return begin + part * (end - begin);
  }
};

std::string band_of(const chart_series& s, const scale& x, const scale& y) {
  std::string upper, lower;
  for (const auto& p : s.points) {
    if (p.low == 0 && p.high == 0) return {};
    upper += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.high));
    lower = fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.low)) + lower;
  }
  return fmt::format(R"(<polygon points="{}{}" fill="{}" fill-opacity="0.18"/>)", upper, lower, s.color);
}

std::string curve_of(const chart_series& s, const scale& x, const scale& y) {
  std::string points, marks;
  for (const auto& p : s.points) {
    points += fmt::format("{:.1f},{:.1f} ", x(p.x), y(p.y));
    marks += fmt::format(
        R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}" stroke="white"><title>{}: {}, {}</title></circle>)",
        x(p.x), y(p.y), s.strong ? 4 : 3.2, s.color, escaped(s.label), number(p.x), number(p.y));
    if (p.marked_wrong) {
      marks += text_at(x(p.x), y(p.y) + 5, "middle", "✗", 18, "font-weight=\"bold\"");
    }
  }
  return fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="{}" {}/>)", points,
                     s.color, s.strong ? 2.6 : 1.8, s.dashed ? "stroke-dasharray=\"5 4\"" : "") +
         marks;
}

}  // namespace

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

double nice_step(double top, int wanted) {
  const double raw = top / wanted, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= raw) return factor * power;
  }
  return 10 * power;
}

// Keramos in the colour of roof tiles, the others in Okabe and Ito's palette for all eyes.
std::string color_of_provider(const std::string& provider, std::size_t index) {
  constexpr std::pair<const char*, const char*> known[] = {
      {"keramos", "#c4451c"},       {"kokkoskernels-native", "#0072b2"},
      {"kokkoskernels", "#56b4e9"}, {"openblas", "#009e73"},
      {"blas", "#009e73"},          {"cublas", "#009e73"},
      {"mkl", "#cc79a7"},           {"blis", "#e69f00"}};
  constexpr const char* others[] = {"#888888", "#b8a000", "#7f5f00", "#555555"};
  for (const auto& [name, color] : known) {
    if (provider.starts_with(name) && provider.find('#') == std::string::npos) return color;
  }
  return others[index % std::size(others)];
}

std::string line_chart::svg() const {
  std::string below;
  const int legend_height = legend(below, series, width, height - 6);
  const int total = height + legend_height;
  double x_min = INFINITY, x_max = -INFINITY;
  for (const auto& s : series) {
    for (const auto& p : s.points) x_min = std::min(x_min, p.x), x_max = std::max(x_max, p.x);
  }
  double top = y_max > 0 ? y_max : top_of(series) * 1.08;
  if (y_max <= 0) {
    for (const auto& l : lines) top = std::max(top, l.y * 1.1);
  }
  const double room = log_x ? 0 : (x_max - x_min) * 0.03;
  const scale x{x_min - room, x_max + room, 64, width - 18.0, log_x}, y{0, top, height - 62.0, 34};

  std::string out = opening(title, width, total);
  for (double v = 0; v <= top * 1.0001; v += nice_step(top, 6)) {
    out += straight(x.begin, y(v), x.end, y(v), faint) + text_at(x.begin - 6, y(v) + 4, "end", number(v));
  }
  auto ticks = x_ticks;
  if (ticks.empty()) {
    for (const auto& s : series) {
      for (const auto& p : s.points) ticks.emplace_back(p.x, number(p.x));
    }
  }
  std::sort(ticks.begin(), ticks.end());
  double last = -INFINITY;
  for (const auto& [value, label] : ticks) {
    const double at = x(value);
    if (at - last < 7.5 * double(label.size()) + 4) continue;
    last = at;
    out += straight(at, y.begin, at, y.begin + 4, ink) + text_at(at, y.begin + 17, "middle", label);
  }
  out += straight(x.begin, y.begin, x.end, y.begin, ink);
  out += text_at((x.begin + x.end) / 2, y.begin + 36, "middle", x_label);
  out += text_at(14, (y.begin + y.end) / 2, "middle", y_label, 11,
                 fmt::format("transform=\"rotate(-90 14 {:.1f})\"", (y.begin + y.end) / 2).c_str());
  for (const auto& l : lines) {
    out += straight(x.begin, y(l.y), x.end, y(l.y), ink, "stroke-dasharray=\"6 4\"") +
           text_at(x.begin + 4, y(l.y) - 4, "start", l.text);
  }
  for (const auto& s : series) out += band_of(s, x, y);
  for (const bool strong : {false, true}) {
    for (const auto& s : series) {
      if (s.strong == strong) out += curve_of(s, x, y);
    }
  }
  return out + below + "</svg>\n";
}

std::string bar_chart::svg() const {
  constexpr double bar = 11, gap = 12;
  const double group_height = bar * double(series.size()) + gap;
  const double bottom = 34 + group_height * double(groups.size());
  std::size_t longest = 8;
  for (const auto& g : groups) longest = std::max(longest, g.size());
  std::string below;
  const int legend_height = legend(below, series, width, bottom + 54);
  double top = top_of(series) * 1.05;
  if (!peak.text.empty()) top = std::max(top, peak.y * 1.05);
  std::size_t longest_note = 0;
  for (const auto& s : series) {
    for (const auto& p : s.points) longest_note = std::max(longest_note, p.note.size());
  }
  if (longest_note > 0) top *= 1 + 0.015 * double(longest_note);
  const scale x{0, top, 20 + 6.4 * double(longest), width - 20.0};

  std::string out = opening(title, width, int(bottom) + 50 + legend_height);
  for (double v = 0; v <= top * 1.0001; v += nice_step(top, 5)) {
    out += straight(x(v), 34, x(v), bottom, faint) + text_at(x(v), bottom + 16, "middle", number(v));
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    out += text_at(x.begin - 6, 34 + group_height * (double(i) + 0.5) + 4, "end", groups[i]);
  }
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (const auto& p : series[i].points) {
      const double at = 34 + gap / 2 + group_height * p.x + bar * double(i);
      out += fmt::format(
          R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{}" fill="{}"><title>{}: {}</title></rect>)",
          x.begin, at, std::max(0.5, x(p.y) - x.begin), bar - 2, p.color.empty() ? series[i].color : p.color,
          escaped(series[i].label), number(p.y));
      out += text_at(x(std::max(p.y, p.high)) + 5, at + bar - 2, "start", p.note, 10);
      out += straight(x(p.low), at + bar / 2 - 1, x(p.high), at + bar / 2 - 1, ink);
      if (p.marked_wrong) out += text_at(x(p.y) + 6, at + bar - 1, "start", "✗ wrong");
    }
  }
  if (!peak.text.empty()) {
    out += straight(x(peak.y), 34, x(peak.y), bottom, ink, "stroke-dasharray=\"6 4\"") +
           text_at(x(peak.y) - 4, 31, "end", peak.text);
  }
  out += straight(x.begin, 34, x.begin, bottom, ink);
  out += text_at((x.begin + x.end) / 2, bottom + 34, "middle", x_label);
  return out + below + "</svg>\n";
}

}  // namespace keramos::perf

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "svg_parts.hpp"

namespace keramos::perf {

// Keramos in the colour of roof tiles, the others of hues that differ for all eyes.
const std::array<series_style, 8> series_styles{{{"#b5390f", "#ff8f6b", ""},
                                                 {"#0b62a8", "#6db8ff", "8 4"},
                                                 {"#00748a", "#4fd4e6", "2 3"},
                                                 {"#1b7340", "#63d699", "10 3 2 3"},
                                                 {"#8f3d85", "#e59ad8", "5 2"},
                                                 {"#8a5a00", "#f2c24e", "12 4"},
                                                 {"#4a4f9c", "#aab2ff", "4 4"},
                                                 {"#5d636e", "#b9c0cc", "2 2 6 2"}}};

namespace {

// -1: a provider that has no style of its own.
int known_style(const std::string& provider) {
  constexpr std::pair<const char*, int> known[] = {{"keramos", 0}, {"kokkoskernels-native", 1},
                                                   {"kokkos", 2},  {"openblas", 3},
                                                   {"blas", 3},    {"cublaslt", 6},
                                                   {"cublas", 3},  {"mkl", 4},
                                                   {"blis", 5}};
  for (const auto& [name, style] : known) {
    if (provider.starts_with(name) && provider.find('#') == std::string::npos) return style;
  }
  return -1;
}

}  // namespace

std::vector<int> styles_of(const std::vector<std::string>& providers) {
  std::vector<int> styles;
  std::array<bool, 8> used{};
  for (const auto& p : providers) {
    const int style = known_style(p);
    const bool is_free = style >= 0 && !used[std::size_t(style)];
    if (is_free) used[std::size_t(style)] = true;
    styles.push_back(is_free ? style : -1);
  }
  int turn = 0;  // of those for which no style is left
  for (int& style : styles) {
    if (style >= 0) continue;
    const auto next = std::find(used.rbegin(), used.rend(), false);
    style = next == used.rend() ? turn++ % int(used.size()) : int(used.rend() - next) - 1;
    used[std::size_t(style)] = true;
  }
  return styles;
}

std::vector<double> axis_positions(const std::vector<double>& sorted, bool logarithmic, double begin,
                                   double end, double least) {
  if (sorted.size() < 2) return std::vector<double>(sorted.size(), (begin + end) / 2);
  std::vector<double> gaps;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    gaps.push_back(logarithmic ? std::log(sorted[i] / sorted[i - 1]) : sorted[i] - sorted[i - 1]);
  }
  double sum = 0;
  for (const double g : gaps) sum += g;
  least = std::min(least, (end - begin) / double(gaps.size()));
  const auto length = [&](double factor) {
    double all = 0;
    for (const double g : gaps) all += std::max(least, factor * g);
    return all;
  };
  double low = 0, high = (end - begin) / sum;
  for (int i = 0; i < 60; ++i) (length((low + high) / 2) > end - begin ? high : low) = (low + high) / 2;
  std::vector<double> positions{begin};
  for (const double g : gaps) positions.push_back(positions.back() + std::max(least, low * g));
  return positions;
}

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

namespace svg {

std::string opening(const std::string& title, const std::string& description, double width, double height) {
  auto out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" )"
      R"(role="img" aria-label="{2}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="{3}">)"
      R"(<rect class="paper" width="{0:.0f}" height="{1:.0f}" fill="white"/>)",
      width, height, escaped(description.empty() ? title : description), font_size);
  if (!title.empty()) out += text_at(12, 20, "start", title, R"(font-weight="bold")");
  return out;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text,
                    const std::string& extra) {
  return fmt::format(
      R"(<text class="ink" x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="#1d1f23" {}>{}</text>)", x, y, anchor,
      extra, escaped(text));
}

double text_width(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return 0.61 * font_size * double(letters);
}

std::string line(double x1, double y1, double x2, double y2, const char* css_class, const char* color,
                 const char* extra) {
  return fmt::format(R"(<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" {}/>)",
                     css_class, x1, y1, x2, y2, color, extra);
}
std::string axis_line(double x1, double y1, double x2, double y2) {
  return line(x1, y1, x2, y2, "axis", "#1d1f23");
}
std::string grid_line(double x1, double y1, double x2, double y2) {
  return line(x1, y1, x2, y2, "grid", "#dcdcdc");
}
std::string limit_line(double x1, double y1, double x2, double y2) {
  return line(x1, y1, x2, y2, "axis", "#1d1f23", R"(stroke-dasharray="6 4")");
}

std::string group_of(int style, const std::string& parts) {
  return fmt::format(R"(<g class="s{}" color="{}">{}</g>)", style, series_styles[std::size_t(style)].light,
                     parts);
}

std::string marker(int style, double x, double y, double radius, const std::string& tooltip) {
  // Corners in halves of the size, y down; none: a circle.
  constexpr const char* shapes[] = {"",                                 // circle
                                    "M-.9,-.9H.9V.9H-.9Z",              // square
                                    "M0,-1.25L1.25,0L0,1.25L-1.25,0Z",  // diamond
                                    "M0,-1.2L1.15,.9H-1.15Z",           // triangle
                                    "M0,1.2L1.15,-.9H-1.15Z",           // triangle, its tip below
                                    "M-.4,-1.2H.4V-.4H1.2V.4H.4V1.2H-.4V.4H-1.2V-.4H-.4Z",  // plus
                                    "M1.2,0L.6,1.04H-.6L-1.2,0L-.6,-1.04H.6Z",              // hexagon
                                    "M-1,-1L0,-.45L1,-1L.45,0L1,1L0,.45L-1,1L-.45,0Z"};     // star of four
  const auto title = tooltip.empty() ? "" : "<title>" + escaped(tooltip) + "</title>";
  constexpr const char* look = R"(class="halo" fill="currentColor" stroke="white")";
  if (*shapes[style] == '\0')
    return fmt::format(R"(<circle {} cx="{:.1f}" cy="{:.1f}" r="{}">{}</circle>)", look, x, y, radius, title);
  return fmt::format(
      R"-(<path {} d="{}" transform="translate({:.1f} {:.1f}) scale({})" stroke-width="{:.2f}">{}</path>)-",
      look, shapes[style], x, y, radius, 1 / radius, title);
}

std::string dashes_of(int style) {
  const std::string dashes = series_styles[std::size_t(style)].dashes;
  return dashes.empty() ? dashes : fmt::format(R"(stroke-dasharray="{}")", dashes);
}

std::string number(double value) {
  return std::abs(value) >= 10000 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
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

}  // namespace svg
}  // namespace keramos::perf

#include "html.hpp"

#include <fmt/format.h>

#include "report/svg.hpp"
#include "style.hpp"

namespace keramos::perf {
namespace {

// The colours of the charts' series on one kind of background.
std::string series_colors(bool dark) {
  std::string text;
  for (std::size_t i = 0; i < series_styles.size(); ++i)
    text += fmt::format("--s{}:{};", i, dark ? series_styles[i].dark : series_styles[i].light);
  return text;
}

std::string style() {
  // Paper is white whatever the screen was.
  auto text = fmt::format(":root{{{}{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}{}}}}}\n",
                          light_colors, series_colors(false), dark_colors, series_colors(true));
  for (std::size_t i = 0; i < series_styles.size(); ++i) text += fmt::format(".s{0}{{color:var(--s{0})}}", i);
  return text + page_style;
}

// Long paths may be broken behind each slash.
std::string breakable(const std::string& text) {
  std::string out;
  for (const char c : escaped(text)) {
    out += c;
    if (c == '/') out += "<wbr>";
  }
  return out;
}

}  // namespace

std::string page_opening(const std::string& title, const std::string& subtitle,
                         const std::vector<page_section>& sections) {
  auto text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
      "<meta name=\"color-scheme\" content=\"light dark\"><title>{0}</title><style>{1}</style></head><body>\n"
      "<header>\n<h1>{0}</h1>\n<p class=\"sub\">{2}</p>\n",
      escaped(title), style(), escaped(subtitle));
  text += "<nav aria-label=\"Sections\">";
  for (const auto& s : sections) text += fmt::format("<a href=\"#{}\">{}</a> ", s.id, escaped(s.title));
  return text + "</nav>\n</header>\n<main>\n";
}

std::string page_end(const std::string& note) {
  return "</main>\n" + (note.empty() ? "" : "<footer>\n<p>" + note + "</p>\n</footer>\n") +
         "</body></html>\n";
}

std::string section_opening(const page_section& section) {
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", section.id, escaped(section.title));
}

html_table::html_table(std::string caption, std::vector<std::string> head, std::size_t left)
    : caption_(std::move(caption)), head_(std::move(head)), left_(left) {}

void html_table::row(const std::vector<std::string>& cells, bool bad) {
  rows_ += bad ? "<tr class=\"bad\">" : "<tr>";
  for (std::size_t i = 0; i < cells.size(); ++i) {
    auto content = i < left_ ? breakable(cells[i]) : escaped(cells[i]);
    if (i == 0 && joined_) content += "<span class=\"on-phones\"> " + breakable(cells[1]) + "</span>";
    const char* const tag = i == 0 ? "th" : "td";
    rows_ += fmt::format("<{}{}{}>{}</{}>", tag, i == 0 ? " scope=\"row\"" : "", class_of(i), content, tag);
  }
  rows_ += "</tr>\n";
}

const char* html_table::class_of(std::size_t column) const {
  if (column == 1 && joined_) return " class=\"t not-on-phones\"";
  return column < left_ ? " class=\"t\"" : "";
}

std::string html_table::html() const {
  std::string head;
  for (std::size_t i = 0; i < head_.size(); ++i) {
    head += fmt::format("<th scope=\"col\"{}>{}</th>", class_of(i), escaped(head_[i]));
  }
  return fmt::format(
      "<div class=\"box{3}\" role=\"region\" tabindex=\"0\" aria-label=\"{0}\"><table>\n"
      "<caption><span>{0}</span></caption>\n<thead><tr>{1}</tr></thead>\n<tbody>\n{2}</tbody></table></"
      "div>\n",
      escaped(caption_), head, rows_, head_.size() > 12 ? " scroll" : "");  // more may not fit a laptop
}

}  // namespace keramos::perf

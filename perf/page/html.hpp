// The parts of a page: its frame and its tables.
#pragma once

#include <string>
#include <vector>

namespace keramos::perf {

// From the doctype to where <main> begins: the style, the headline, links to the sections.
struct page_section {
  std::string id, title;
};
std::string page_opening(const std::string& title, const std::string& subtitle,
                         const std::vector<page_section>& sections);
// `note`: how the figures are to be read, HTML.
std::string page_end(const std::string& note);

std::string section_opening(const page_section& section);

// A table in a box of its own, which scrolls where the table is wider than the page. The first cell of a row heads it.
class html_table {
 public:
  // The first `left` columns are text, the others figures.
  html_table(std::string caption, std::vector<std::string> head, std::size_t left);
  // `bad`: what must be noticed.
  void row(const std::vector<std::string>& cells, bool bad = false);
  std::string html() const;

 private:
  std::string caption_;
  std::vector<std::string> head_;
  std::size_t left_;
  std::string rows_;
};

}  // namespace keramos::perf

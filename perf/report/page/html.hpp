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
  // On phones the second cell stands below the first, in the column that stays in sight.
  void join_first_two() { joined_ = true; }
  // `bad`: what must be noticed.
  void row(const std::vector<std::string>& cells, bool bad = false);
  std::string html() const;

 private:
  const char* class_of(std::size_t column) const;

  std::string caption_;
  std::vector<std::string> head_;
  std::size_t left_;
  bool joined_ = false;
  std::string rows_;
};

}  // namespace keramos::perf

// What a long run shows on a terminal, and only there.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace keramos::perf {

// One line that says what is going on, and is gone when it is done. Silent where the standard error
// is no terminal.
class progress_line {
 public:
  explicit progress_line(bool wanted = true);
  void show(const std::string& text) const;
  void clear() const;

 private:
  bool on_;
};

// How long the rest will take, from how long what is done took. `costs`: of each part, in any unit.
class time_left {
 public:
  explicit time_left(std::vector<double> costs);
  void part_done() { ++done_; }
  // "about 3 min left"; "" before a first part is done.
  std::string text() const;
  static std::string text(double seconds);
  double seconds(double elapsed) const;  // negative: not known yet

 private:
  std::vector<double> costs_;
  std::size_t done_ = 0;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace keramos::perf

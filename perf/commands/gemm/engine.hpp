// Google Benchmark as the clockwork: repetitions of several subjects in the order A B C A B C ...
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace keramos::perf {

struct timed_subject {
  std::string name;
  std::function<double(std::int64_t calls)> run;  // returns the seconds the calls took
  std::int64_t calls = 1;                         // in one repetition
  int repetitions = 1;
  std::function<void(int repetition)> before;  // untimed: settle, warm up, tell progress
  std::vector<double> seconds;                 // out: of one call, for each repetition
  std::string failure;                         // out: what it threw, if it did
};

void time_interleaved(std::vector<timed_subject>& subjects);

}  // namespace keramos::perf

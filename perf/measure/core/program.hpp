// Other programs: where they are, and what they print.
#pragma once

#include <string>
#include <vector>

namespace keramos::perf {

// The path of an executable file `name` in PATH or else in one of the folders; "" if there is none.
std::string find_program(const std::string& name, const std::vector<std::string>& folders = {});

struct program_output {
  int status = 0;    // of its exit; 128 + signal if one ended it
  std::string text;  // standard output and error, as they came
};

// Runs arguments[0], a path, to its end. An interruption (core/interrupt.hpp) ends it, its children too, and is
// thrown; std::runtime_error if it cannot be started.
program_output run_program(const std::vector<std::string>& arguments);

}  // namespace keramos::perf

// keramos-perf ladder
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command (gemm/command.hpp).
void add_ladder_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

// keramos-perf ladder --count-once: see counters.hpp.
struct ladder_options;
int count_once(const ladder_options& options, int& argc, char** argv);

}  // namespace keramos::perf

// keramos-perf overhead
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command: what a launch costs over the same launch by Kokkos alone.
void add_overhead_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

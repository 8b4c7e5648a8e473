// keramos-perf kernels
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command: the families of src/keramos/algorithm against the bandwidth of a copy.
void add_kernels_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

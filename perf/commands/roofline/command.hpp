// keramos-perf roofline
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command (gemm/command.hpp).
void add_roofline_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

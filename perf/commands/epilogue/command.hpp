// keramos-perf epilogue
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command: what a fused epilogue costs, and what it saves over a kernel of its own.
void add_epilogue_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

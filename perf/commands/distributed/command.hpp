// keramos-perf distributed
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_gemm_command: one product over the ranks that a launcher has started, or over as many as there may be on paper.
void add_distributed_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

// keramos-perf gemm, and keramos-perf batched: the same with batches.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// Adds the subcommand; when it is the one given, `command` becomes what runs it and returns the
// exit status: 0, or 1 if a result was wrong or a provider failed. Usage errors are thrown.
void add_gemm_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv,
                      bool batched = false);

}  // namespace keramos::perf

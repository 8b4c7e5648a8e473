// The hidden subcommand behind make_worker_bench: a process that measures one provider.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

void add_worker_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

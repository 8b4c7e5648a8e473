#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// Registers keramos-perf explain; when it is chosen, `command` becomes what runs it.
void add_explain_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

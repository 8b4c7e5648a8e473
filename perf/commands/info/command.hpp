#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// Registers keramos-perf info: what this build and its devices are; `command` becomes what runs it.
void add_info_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv);

}  // namespace keramos::perf

// keramos-perf portability
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

void add_portability_command(CLI::App& app, std::function<int()>& command);

}  // namespace keramos::perf

// keramos-perf support
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// As add_compare_command: which products the tests have done, and recordings of that.
void add_support_command(CLI::App& app, std::function<int()>& command);

}  // namespace keramos::perf

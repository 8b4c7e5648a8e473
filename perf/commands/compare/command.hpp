// keramos-perf compare
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace keramos::perf {

// Exit status of the command: 0; 1 if a case is slower beyond the limit, wrong or gone; usage errors,
// of which files that cannot be compared are one, are thrown.
void add_compare_command(CLI::App& app, std::function<int()>& command);

}  // namespace keramos::perf

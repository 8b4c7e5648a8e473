// What shells ask for: the words that may follow. Scripts in this folder call `keramos-perf complete [words...]`.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace keramos::perf {

/// Prints a line for each word that may stand behind `words`, with a tab and what it is for: the commands, or the options
/// of the command among the words. Nothing where a value or a file follows.
void print_completions(const CLI::App& app, const std::vector<std::string>& words);

}  // namespace keramos::perf

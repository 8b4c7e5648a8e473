#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace keramos::perf {
namespace {

/// The first sentence or so: shells have one line.
std::string brief(const std::string& description) {
  const auto line = description.substr(0, description.find('\n'));
  return line.size() <= 90 ? line : line.substr(0, line.rfind(' ', 87)) + "...";
}

}  // namespace

void print_completions(const CLI::App& app, const std::vector<std::string>& words) {
  const auto commands = app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
  const CLI::App* chosen = nullptr;
  for (const auto* command : commands)
    if (!words.empty() && words.front() == command->get_name()) chosen = command;
  if (chosen == nullptr) {
    if (!words.empty()) return;
    for (const auto* command : commands)
      fmt::print("{}\t{}\n", command->get_name(), brief(command->get_description()));
    return;
  }
  for (const auto* option : chosen->get_options()) {
    const auto& names = option->get_lnames();
    if (names.empty()) continue;
    // Behind an option that takes a value no option follows.
    const bool is_last = words.size() > 1 && words.back() == "--" + names.front();
    if (is_last && option->get_items_expected_max() > 0) return;
  }
  for (const auto* option : chosen->get_options())
    for (const auto& name : option->get_lnames())
      fmt::print("--{}\t{}\n", name, brief(option->get_description()));
}

}  // namespace keramos::perf

#include "command.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/core/json.hpp"
#include "measure/device/info.hpp"
#include "measure/device/machine.hpp"

namespace keramos::perf {
namespace {

void print_text(const std::vector<info_section>& sections) {
  for (const auto& section : sections) {
    fmt::print("{}\n", section.title);
    for (const auto& [name, value] : section.rows) fmt::print("  {:<18}{}\n", name, value);
  }
}
void print_json(const std::vector<info_section>& sections) {
  nlohmann::ordered_json out;
  out["schema"] = "keramos-perf-info/1";
  for (const auto& section : sections)
    for (const auto& [name, value] : section.rows) out[section.title][name] = value;
  fmt::print("{}\n", to_text(out, 2));
}

}  // namespace

void add_info_command(CLI::App& app, std::function<int()>& command, int& argc, char** argv) {
  auto* info = app.add_subcommand("info", "What this build and its devices are, with the limits of kernels");
  auto format = std::make_shared<std::string>("text");
  info->add_option("--format", *format, "text or json")->check(CLI::IsMember({"text", "json"}));
  info->callback([format, &command, &argc, argv] {
    command = [format, &argc, argv] {
      machine m(argc, argv);
      const auto sections = describe_build_and_devices();
      *format == "json" ? print_json(sections) : print_text(sections);
      return 0;
    };
  });
}

}  // namespace keramos::perf

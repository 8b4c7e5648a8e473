#include "options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "measure/core/range.hpp"

namespace keramos::perf {
namespace {

// The number at the start of `text`, at least 1 and not absurd; 0 if there is none.
std::int64_t leading_number(std::string_view text, std::size_t& length) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  length = static_cast<std::size_t>(end - text.data());
  return error == std::errc() && value >= 1 && value <= (std::int64_t(1) << 40) ? value : 0;
}

}  // namespace

std::int64_t parse_count(const std::string& text, const std::string& option) {
  std::size_t length = 0;
  const auto value = leading_number(text, length);
  const auto unit = text.substr(length);
  const std::int64_t factor = unit.empty()                 ? 1
                              : unit == "K" || unit == "k" ? 1024
                              : unit == "M"                ? 1024 * 1024
                                                           : 0;
  if (value * factor == 0) {
    throw usage_error(
        fmt::format("{0} {1}: not a number of at least 1: write {0} 49152 or {0} 48K", option, text));
  }
  return value * factor;
}

std::vector<std::int64_t> parse_extents(const std::string& text, std::size_t parts,
                                        const std::string& option) {
  std::vector<std::int64_t> all;
  std::string_view rest = text;
  for (bool more = true; more;) {
    std::size_t length = 0;
    const auto value = leading_number(rest, length);
    more = length < rest.size() && rest[length] == 'x';
    if (value == 0 || value > 1 << 20 || (!more && length < rest.size())) all.clear(), more = false;
    if (value != 0 && (more || length == rest.size())) all.push_back(value);
    if (more) rest.remove_prefix(length + 1);
  }
  if (all.size() == 1) all.resize(parts, all[0]);
  if (all.size() != parts) {
    throw usage_error(fmt::format("{0} {1}: not an extent: write {0} 16 or {0} {2}", option, text,
                                  parts == 3 ? "128x128x8 (m x n x k)" : "8x8"));
  }
  return all;
}

void explain_options::add_to(CLI::App& app) {
  app.add_option(
      "--tile", tile,
      "a team's block of C and its k-tile: 16 (for 16x16x16) or 128x128x8 (default: on the machine that "
      "of the library's plan, else 16)");
  app.add_option("--thread-tile", thread_tile, "elements of C that a thread keeps: 8x8 (default 1x1)");
  app.add_option("--stages", stages, "k-tiles in local memory at once: 2 for double buffers")
      ->capture_default_str();
  app.add_option("--type", type, "one of " + names(all_types))->capture_default_str();
  app.add_option(
      "--device-spec", spec,
      "a device on paper: a name in perf/data/specs (a100-sxm4-40gb, h200-sxm5, ...) or a file; without "
      "it and without limits by hand, the machine at hand");
  app.add_option("--scratch-per-sm", scratch, "bytes of local memory of a multiprocessor: 48K");
  app.add_option("--threads-per-sm", threads, "threads that a multiprocessor holds: 2048");
  app.add_option("--teams-per-sm", teams, "teams that a multiprocessor holds: 16");
  app.add_option("--registers-per-sm", registers_of_unit,
                 "32-bit registers of a multiprocessor (default with --registers: 64K)");
  app.add_option("--registers", registers,
                 "registers of a thread, as ptxas -v or keramos-perf ladder --counters tells them");
  app.add_option("--op", op, "on the machine: op of the library's product to look at")->capture_default_str();
  app.add_option("--size", size, "and its size: 1024, or 200x400x500 (m x n x k)")->capture_default_str();
  app.add_option("--format", format, "table or json")->capture_default_str();
  app.footer(
      "Examples:\n"
      "  keramos-perf explain --tile 16 --scratch-per-sm 48K --threads-per-sm 2048 --teams-per-sm 16\n"
      "  keramos-perf explain --tile 128x128x8 --thread-tile 8x8 --registers 128 --device-spec h200-sxm5\n"
      "  keramos-perf explain --type f64 --size 4096     the library's plan on this machine");
}

bool explain_options::on_machine() const {
  return spec.empty() && scratch.empty() && threads.empty() && teams.empty() && registers_of_unit.empty();
}

void explain_options::check() const {
  parse_type(type);
  tile_of();
  limits({});
  problem();
  if (format != "table" && format != "json") {
    throw usage_error(fmt::format("format '{}' is not known: write --format table or json", format));
  }
  if (registers < 0 || registers > 1 << 16) {
    throw usage_error("--registers must be at least 1: write --registers 64");
  }
}

tile_description explain_options::tile_of() const {
  tile_description t;
  t.type = parse_type(type);
  const auto block = parse_extents(tile.empty() ? "16" : tile, 3, "--tile");
  const auto of_thread = parse_extents(thread_tile.empty() ? "1" : thread_tile, 2, "--thread-tile");
  if (std::max({block[0], block[1], block[2]}) > 1 << 12)
    throw usage_error(
        fmt::format("--tile {}: a tile has at most 4096 in each direction: write --tile 128x128x8", tile));
  t.m = block[0], t.n = block[1], t.k = block[2];
  t.thread_m = of_thread[0], t.thread_n = of_thread[1];
  t.stages = stages;
  if (t.m % t.thread_m != 0 || t.n % t.thread_n != 0) {
    throw usage_error(
        fmt::format("--thread-tile {0}x{1} does not divide --tile {2}x{3}: write --thread-tile "
                    "with divisors of both",
                    t.thread_m, t.thread_n, t.m, t.n));
  }
  if (stages < 1 || stages > 64) throw usage_error("--stages must be 1 to 64: write --stages 2");
  return t;
}

unit_limits explain_options::limits(unit_limits base) const {
  if (!scratch.empty()) base.scratch_bytes = parse_count(scratch, "--scratch-per-sm");
  if (!threads.empty()) base.threads = parse_count(threads, "--threads-per-sm");
  if (!teams.empty()) base.teams = parse_count(teams, "--teams-per-sm");
  if (!registers_of_unit.empty()) base.registers = parse_count(registers_of_unit, "--registers-per-sm");
  if (registers > 0 && !base.registers) base.registers = 64 * 1024;
  return base;
}

gemm_case explain_options::problem() const {
  gemm_case g;
  g.type = parse_type(type);
  const auto ops = parse_ops(op);
  g.op_a = ops.a, g.op_b = ops.b;
  const auto extents = parse_extents(size, 3, "--size");
  g.m = extents[0], g.n = extents[1], g.k = extents[2];
  return g;
}

}  // namespace keramos::perf

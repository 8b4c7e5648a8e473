// The options of keramos-perf explain, as written and as understood.
#pragma once

#include <cstdint>
#include <string>

#include "measure/core/device_spec.hpp"
#include "measure/core/problem.hpp"
#include "tile_model.hpp"

namespace CLI {
class App;
}

namespace keramos::perf {

struct explain_options {
  std::string type = "f32";
  std::string tile;         // "16" or "128x128x8"; "": on the machine that of the library's plan, else 16
  std::string thread_tile;  // "8x8"; "": one element a thread
  std::int64_t stages = 1;
  std::string spec;  // --device-spec
  std::string scratch, threads, teams, registers_of_unit;
  std::int64_t registers = 0;  // of a thread
  std::string op = "NN", size = "1024";
  std::string format = "table";

  void add_to(CLI::App& app);

  // All of these throw usage_error.
  void check() const;
  tile_description tile_of() const;
  // Whether a tile was given.
  bool has_tile() const { return !tile.empty() || !thread_tile.empty(); }
  // Whether the machine at hand is meant: no spec, and no limits by hand.
  bool on_machine() const;
  // The limits given by hand, over those of `base`.
  unit_limits limits(unit_limits base) const;
  gemm_case problem() const;
};

// "48K" -> 49152, "1M", "4096": K and M are 1024 and 1024^2. Throws usage_error naming the option.
std::int64_t parse_count(const std::string& text, const std::string& option);
// "16" -> {16, 16, 16}, "128x64x8" -> those. `parts` of them are wanted; one stands for all.
std::vector<std::int64_t> parse_extents(const std::string& text, std::size_t parts,
                                        const std::string& option);

}  // namespace keramos::perf

// What keramos-perf ladder prints and writes.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "counters.hpp"
#include "report/result.hpp"

namespace keramos::perf {

struct ladder_row {
  gemm_result result;
  std::string step;  // "tiled", "library", or the vendor's provider
  int number = 0;    // of the step, from 1; 0 for a variant beside the next one
  int width = 0;     // tile width asked for; 0: none
  std::string tile;  // block tile m x n x k; "": not known
  double bytes = 0;  // asked of global memory, by arithmetic; 0: not known
  double gain = 0;   // rate over that of the row before; 0: none
  std::string why;   // one sentence
  byte_counts counted;

  double intensity() const { return bytes > 0 ? result.problem.operations() / bytes : 0; }
};

// Gives every timed row its gain over the last timed one before it.
void set_gains(std::vector<ladder_row>& rows);

// The rows of one type, width and shape, with a heading; with what was counted, or a dash.
std::string ladder_table(const std::vector<ladder_row>& rows, bool with_counted = false);

// A results row of schema keramos-perf/1 with `global_bytes`, the counted bytes (null: not counted) and, as an
// object, what the ladder knows besides.
nlohmann::ordered_json to_json(const ladder_row& row);
std::string ladder_document(const nlohmann::ordered_json& context, const std::vector<ladder_row>& rows);

}  // namespace keramos::perf

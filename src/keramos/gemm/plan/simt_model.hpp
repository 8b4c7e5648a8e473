// Which row of a tile table, in how many parts of k: a model of time decides, from the shape, the number of
// multiprocessors and the device's model (backends/simt/tiles.hpp).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <keramos/backends/simt/tiles.hpp>
#include <keramos/base/index.hpp>
#include <keramos/gemm/collective/simt_bytes.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

using backend::simt::device_model;

inline double block_tiles(index_t m, index_t n, const tiling::shape& block) {
  return double(ceil_div(m, block.m)) * double(ceil_div(n, block.n));
}

/// Bytes of the sums of a tile.
constexpr double sum_bytes(const tile_row& r) {
  return double(r.config.block.m) * r.config.block.n * bytes_of(r.types.accumulator);
}

/// Teams of a row on a multiprocessor.
inline int resident_teams(const device_model& device, const tile_row& r) {
  const std::size_t fit = device.unit_bytes / (local_bytes(r) + device.reserved_team_bytes);
  return int(std::clamp<std::size_t>(fit, 1, std::size_t(r.config.teams)));
}

/// Whether a row's sums are stored and loaded one by one where k is divided.
constexpr bool stores_single_sums(const tile_row& r) {
  return tiling::stores_single_sums(r.config, bytes_of(r.types.accumulator));
}
/// Time in which a team reads the sums of one part of k of a tile.
inline double adding_time(const tile_row& r, const device_model& device) {
  return sum_bytes(r) / (stores_single_sums(r) ? device.single_adding_bytes : device.adding_bytes);
}
/// Time to add up `parts` sums of a tile, `fan_in` at once.
inline double adding_time(const tile_row& r, const device_model& device, int parts, int fan_in) {
  const double meeting = r.start > 0 ? device.meeting_with_start : device.meeting;
  double time = 0;
  for (; parts > 1; parts = int(ceil_div(parts, fan_in)))
    time += meeting + std::min(parts, fan_in) * adding_time(r, device);
  return time;
}

/// C's memory, as tiles write it. Or it does not count, and neither does the start of teams.
enum class c_memory { vectors, rows, columns, uncounted };

/// What tiles of a row take besides products.
struct tile_costs {
  double wait;          ///< for the copies of a k-tile
  double memory_bytes;  ///< of operands that a multiprocessor copies in a clock
  double start = 0;  ///< of teams that run at the same time, before their first k-tile and behind their last
  double write = 0;  ///< of the elements of C of a tile
};
inline tile_costs costs_of(const tile_row& r, const device_model& device) {
  return {device.latency / (r.config.stages - device.stages_in_use), device.memory_bytes};
}
/// How long a tile of a row takes to write C.
inline double writing_time(const tile_row& r, const device_model::writes& rates, c_memory c) {
  const double rate = c == c_memory::vectors ? rates.vectors
                      : c == c_memory::rows  ? rates.rows
                                             : rates.columns;
  return double(r.config.block.m) * r.config.block.n / rate;
}
/// The same of a single product whose C has such memory.
inline tile_costs costs_of(const tile_row& r, const device_model& device, c_memory c) {
  tile_costs costs = costs_of(r, device);
  if (r.start > 0 && c != c_memory::uncounted)
    costs.start = r.start, costs.write = writing_time(r, device.long_writes, c);
  return costs;
}
/// The same of short elements, of which `alignment` bytes of A and of B can be copied at once (row_alignment).
tile_costs costs_of_short(const tile_row&, const device_model&, bool,
                          c_memory) = delete;  // a bool is no alignment
inline tile_costs costs_of_short(const tile_row& r, const device_model& device, int alignment, c_memory c) {
  tile_costs costs = costs_of(r, device);
  if (alignment < 4)
    costs.wait = device.shifted_latency, costs.memory_bytes = device.shifted_bytes;
  else if (alignment < 16)
    costs.memory_bytes = alignment == 8 ? device.double_word_bytes : device.word_bytes;
  const auto& rates =
      r.config.math == tiling::math_unit::warpgroup ? device.warpgroup_writes : device.team_writes;
  costs.start = rates.start;
  costs.write = writing_time(r, rates, c);
  return costs;
}

/// Bytes of operands that a multiprocessor copies in a clock: fewer the more teams drift apart (device_model::drift). What a wave
/// reads is the rows and columns of a square of tiles.
inline double copied_in_a_clock(const tile_row& r, index_t m, index_t n, index_t k,
                                const device_model& device, const tile_costs& costs) {
  if (device.cache_size == 0) return costs.memory_bytes;
  const tiling::shape& block = r.config.block;
  const double slots = double(device.units) * resident_teams(device, r);
  const double side = std::sqrt(slots * block.m * block.n);
  const double read =
      (std::min(double(m), side) * bytes_of(r.types.a) + std::min(double(n), side) * bytes_of(r.types.b)) *
      double(k);
  const double apart = std::sqrt(std::max(1.0, block_tiles(m, n, block) / slots)) - 1;
  const double drifting = costs.memory_bytes / (1 + apart * read / (device.drift * device.cache_size));
  return std::min(costs.memory_bytes, std::max(device.least_memory_bytes, drifting));
}

/// Predicted time of a problem on a row; `left_out` of its tiles are another part's. Teams run in waves. Each k-tile takes the
/// longest of three times, or somewhat more where they are alike: of its products, of its copies, and of the wait for these.
/// To that comes the time in which parts of k are added up. Divided tiles run beside the last whole ones.
inline double predicted_time(const tile_row& r, index_t m, index_t n, index_t k, const split_plan& split,
                             const device_model& device, const tile_costs& costs, int left_out = 0) {
  const tiling::config& c = r.config;
  const double tiles = block_tiles(m, n, c.block) - left_out;
  const double k_tiles = double(ceil_div(k, c.block.k)),
               part_k_tiles = double(ceil_div(std::min(k, split.k_per_part), c.block.k));
  const double products = double(c.block.m) * c.block.n * c.block.k / (device.fmas * r.efficiency);
  const double bytes = double(c.block.m * bytes_of(r.types.a) + c.block.n * bytes_of(r.types.b)) * c.block.k;
  const double wait = costs.wait, copied = copied_in_a_clock(r, m, n, k, device, costs);
  const auto k_tile = [&](double teams) {  // a k-tile of each of the teams that share a multiprocessor
    if (teams == 0) return 0.0;
    const double multiply = teams * products * (1 + device.warps_at_half_speed / (teams * c.warps()));
    const double copy = teams * bytes / copied;
    return std::cbrt(multiply * multiply * multiply + copy * copy * copy + wait * wait * wait);
  };
  const auto wave = [&](double teams, double k_tiles_of_team, double share_of_write) {
    if (teams == 0) return 0.0;
    return k_tiles_of_team * k_tile(teams) + costs.start + teams * costs.write * share_of_write;
  };
  const int resident = resident_teams(device, r);
  const double slots = double(device.units) * resident, part_of_write = 1.0 / split.parts;
  const double full_waves = std::floor(split.whole_tiles / slots);
  const double beside = std::ceil((split.whole_tiles - full_waves * slots) / device.units);
  double teams = (tiles - split.whole_tiles) * split.parts;
  double time = full_waves * wave(resident, k_tiles, 1) + adding_time(r, device, split.parts, split.fan_in);
  if (beside > 0) {
    // On each multiprocessor `beside` teams with a whole tile, and in the rest of its slots one part after the other.
    const double free = resident - beside, parts = std::ceil(teams / device.units);
    const double turns = free > 0 ? std::min(std::ceil(parts / free), std::floor(k_tiles / part_k_tiles)) : 0;
    const double meanwhile = turns * part_k_tiles;
    time += meanwhile * k_tile(beside + std::min(parts, free)) + (k_tiles - meanwhile) * k_tile(beside) +
            costs.start * std::max(1.0, turns) + (beside + turns * free * part_of_write) * costs.write;
    teams = std::max(0.0, teams - turns * free * device.units);
  }
  const double waves = std::floor(teams / slots);
  // Teams of a wave store large sums before those of the next begin; adding_time has that of one wave.
  if (split.parts > 1 && stores_single_sums(r))
    time += std::max(0.0, std::ceil(teams / slots) - 1) * resident * adding_time(r, device);
  return time + waves * wave(resident, part_k_tiles, part_of_write) +
         wave(std::ceil((teams - waves * slots) / device.units), part_k_tiles, part_of_write);
}
inline double predicted_time(const tile_row& r, index_t m, index_t n, index_t k, const split_plan& split,
                             const device_model& device) {
  return predicted_time(r, m, n, k, split, device, costs_of(r, device));
}

/// Time to copy elements of operands that a tile cannot read in place.
inline double packing_time(index_t elements, int element_bytes, const device_model& device) {
  return 2.0 * double(elements) * element_bytes / (device.copied_bytes * device.units) +
         device.launch_time / 2;
}

/// The same of short elements. The launch shows in full where a product takes less than two launches, and hardly where it takes
/// long: three quarters are between.
inline double short_packing_time(double elements, const device_model& device) {
  return elements / (device.short_elements_copied * device.units) + 0.75 * device.launch_time;
}

/// Parts that are tried: powers of two and what is halfway, since times hardly differ in between.
inline constexpr int parts_tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512};
/// The least of k for a part, from f32 and f64 on an H200: f32 of 7281 x 869 x 84 took a third longer in two parts than in one.
inline constexpr index_t least_k_per_part = 64;
/// How many sums one team adds at once, if not all. More take longer in one meeting; fewer need more meetings. adding_time
/// chooses.
inline constexpr int fan_ins_tried[] = {32, 16, 8};
/// How many times over the teams may fill the device: more of them only add sums.
inline constexpr double most_times_filled = 2;

/// The split with about `parts` parts, all but the last of the same whole number of k-tiles.
inline split_plan plan_parts(const tile_row& r, index_t k, int parts, const device_model& device) {
  const int k_tile = r.config.block.k;
  split_plan plan;
  plan.k_per_part = ceil_div(ceil_div(k, parts), k_tile) * k_tile;
  plan.parts = int(ceil_div(k, plan.k_per_part));
  plan.fan_in = plan.parts;
  for (const int fan_in : fan_ins_tried)
    if (adding_time(r, device, plan.parts, fan_in) < adding_time(r, device, plan.parts, plan.fan_in))
      plan.fan_in = fan_in;
  return plan;
}

/// The fastest split of a problem on a row, and its time.
struct split_choice {
  split_plan plan;
  double time;
};

inline split_choice choose_split(const tile_row& r, index_t m, index_t n, index_t k,
                                 const device_model& device, const tile_costs& costs) {
  const double tiles = block_tiles(m, n, r.config.block);
  const split_plan undivided = plan_parts(r, k, 1, device);
  split_choice best{undivided, predicted_time(r, m, n, k, undivided, device, costs)};
  if (!r.config.splits_k) return best;
  const double slots = double(device.units) * resident_teams(device, r);
  // Teams that began together end together. So behind a full wave one multiprocessor may get two of the whole tiles and another
  // none. Rows with large sums therefore have whole tiles in full waves only, unless all teams fit at once.
  const auto keeps_order = [&](double whole_tiles, double teams_behind) {
    return !stores_single_sums(r) || std::fmod(whole_tiles, slots) == 0 ||
           whole_tiles + teams_behind <= slots;
  };
  const auto try_behind = [&](double whole_tiles) {
    const double divided = tiles - whole_tiles;
    for (const int parts : parts_tried) {
      split_plan plan = plan_parts(r, k, parts, device);
      if (plan.parts == 1) continue;
      if (plan.k_per_part < least_k_per_part ||
          divided * (plan.parts - 1) > most_times_filled * device.units * r.config.teams ||
          divided * plan.parts * sum_bytes(r) > device.most_sum_bytes)
        break;
      plan.whole_tiles = int(whole_tiles);
      if (!keeps_order(whole_tiles, divided * plan.parts)) continue;
      const double time = predicted_time(r, m, n, k, plan, device, costs);
      const double least_gain = whole_tiles > 0 && best.plan.whole_tiles == 0 ? device.gain_enough : 1;
      if (time < least_gain * best.time) best = {plan, time};
    }
  };
  try_behind(0);
  // As many whole tiles as give each multiprocessor equally many; or as many as fill waves.
  if (tiles > device.units && tiles < double(std::numeric_limits<int>::max())) {
    const double filled = std::floor(tiles / device.units) * device.units;
    const double in_waves = std::floor(tiles / slots) * slots;
    if (filled < tiles) try_behind(filled);
    if (0 < in_waves && in_waves < filled) try_behind(in_waves);
  }
  return best;
}
inline split_choice choose_split(const tile_row& r, index_t m, index_t n, index_t k,
                                 const device_model& device) {
  return choose_split(r, m, n, k, device, costs_of(r, device));
}

/// Whether large sums are stored by more than one wave of teams. The model is no better there than `gain_enough`: of f32 with
/// n = 3000 it saw a gain of 1.7 % over a corner, where an H200 takes 3 % longer.
inline bool stores_sums_in_waves(const tile_row& r, index_t m, index_t n, const split_plan& plan,
                                 const device_model& device) {
  if (plan.parts == 1 || !stores_single_sums(r)) return false;
  const double divided = block_tiles(m, n, r.config.block) - plan.whole_tiles;
  const double slots = double(device.units) * resident_teams(device, r);
  return std::fmod(plan.whole_tiles, slots) + divided * plan.parts > slots;
}

/// Rows and columns of the large tiles of all tables are multiples of that: C is cut there.
inline constexpr index_t multiple_of_tiles = 64;

/// The first rows and columns of C, for tiles that are chosen for them; what is left, if anything, is narrow and
/// computed apart.
struct main_part {
  index_t m, n;
};

/// The fastest way to cut a problem: whole tiles, of which a row more for a few rows of C can cost as much as
/// hundreds of others, and strips. `time(m, n, is_transposed)` is that of a part, or of its transpose, on its best tile.
template <class Time>
main_part choose_main_part(index_t m, index_t n, index_t k, std::size_t element_bytes,
                           const device_model& device, const Time& time) {
  const auto whole = [&](index_t extent) {
    const index_t left = extent % multiple_of_tiles;
    return extent < device.least_extent_to_cut || left > device.most_left ? extent : extent - left;
  };
  const auto strip = [&](index_t rows, index_t cols, bool is_transposed) {  // rows become few columns
    if (rows == 0) return 0.0;
    const double bytes = double(rows + cols) * double(k) * double(element_bytes);
    const double products = rows == 1 ? 0 : time(cols, rows, is_transposed);
    return std::max(products, bytes / (device.strip_bytes * device.units)) + device.launch_time;
  };
  main_part best{m, n};
  const main_part candidates[] = {{whole(m), n}, {m, whole(n)}, {whole(m), whole(n)}};
  double best_time = -1;
  for (const main_part& part : candidates) {
    if (part.m == m && part.n == n) continue;
    if (best_time < 0) best_time = device.gain_enough * time(m, n, false);
    const double t =
        time(part.m, part.n, false) + strip(m - part.m, n, true) + strip(n - part.n, part.m, false);
    if (t < best_time) best = part, best_time = t;
  }
  return best;
}

/// Calls `f(corner)` for each corner that is worth a try. The tiles that remain without it are a multiple of the
/// multiprocessors, or of the teams that these hold at once; or a few less, since a corner has whole columns of tiles.
template <class F>
void for_each_corner(const tile_row& r, index_t m, index_t n, const device_model& device, const F& f) {
  const tiling::shape& block = r.config.block;
  const double tiles = block_tiles(m, n, block);
  if (tiles >= double(std::numeric_limits<int>::max())) return;
  const int rows = rows_of_last_band(ceil_div(m, block.m)), resident = resident_teams(device, r);
  int tried = 0;
  for (const int slots : {device.units * resident, device.units}) {
    const int whole = int(tiles) / slots * slots, left = int(tiles) - whole;
    const int columns = int(ceil_div(left, rows));
    if (whole == 0 || left == 0 || columns == tried || columns >= ceil_div(n, block.n)) continue;
    tried = columns;
    f(corner_of(m, n, block, columns));
  }
}

/// A row of a table, its split, and which operands are packed, if that is weighed with the rest.
struct tile_choice {
  int row = -1;
  split_plan plan;
  bool pack_a = false, pack_b = false;
  index_t corner_m = 0, corner_n = 0;  ///< as in gemm_part
};

struct timed_choice {
  tile_choice choice;
  double time = 0;
};

/// What choices depend on.
struct choice_key {
  index_t m = 0, n = 0, k = 0;
  int arch = 0;
  std::size_t limit = 0;
  int units = 0;
  std::size_t unit_bytes = 0;
  double cache_size = 0;
  epilogue_of_product whose = epilogue_of_product::library;
  bool copies_a = false, copies_b = false;  ///< for warpgroups
  int alignment_a = 16, alignment_b = 16;   ///< row_alignment of short elements
  c_memory c = c_memory::vectors;
  bool is_left_over = false;  ///< a strip or a corner, which leaves none itself
  friend bool operator==(const choice_key&, const choice_key&) = default;
};

}  // namespace keramos::detail::simt

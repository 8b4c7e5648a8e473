// Which row of a tuning table, in how many parts of k: a model of time decides, from the shape, the number of
// multiprocessors and the constants below.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <keramos/backends/simt/copy.hpp>
#include <keramos/gemm/split_k.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::simt {

/// What a row of a tuning table is for.
enum class serves { all, single, batches };

/// A row of a tuning table: for which architectures (minimum, in the backend's own numbers) and types,
/// and how. `efficiency` is the fraction of the multiprocessor's 128 FMAs a clock that the tile reaches where
/// nothing else holds it up.
struct tuning_row {
  int arch;
  char type;  ///< 'f' floating, 'i' integer
  int element_bytes;
  tiling::config config;
  double efficiency;
  simt::serves serves = simt::serves::all;
};

/// Scratch that a row needs, whichever way its panels lie.
constexpr std::size_t local_bytes(const tuning_row& r) {
  const tiling::config& c = r.config;
  const auto panel = [&](int mn) {
    const bool swizzled = (c.block.k == 8 || c.block.k == 16) && r.element_bytes == 8;  // see panel
    const int rows_of_mn = c.block.k * (mn + pad), rows_of_k = mn * (c.block.k + (swizzled ? 0 : pad));
    return c.math == tiling::unit::matrix && rows_of_k > rows_of_mn ? rows_of_k : rows_of_mn;
  };
  return std::size_t(r.element_bytes) * c.stages * (panel(c.block.m) + panel(c.block.n));
}

/// What the model knows of a multiprocessor, in clock cycles and bytes: fits to 800 timings of 25 tiles in 1 to
/// 384 parts on 14 shapes of f32 and f64 on an H200, cold caches; its choices cost 2 % over the best of them.
/// Other GPUs' clocks and caches have the same order of size, and only ratios matter.
struct time_model {
  double fmas = 128;         ///< products a clock
  double latency = 1200;     ///< from asking for a slab until it is there
  double memory_bytes = 65;  ///< of operands a clock
  double meeting = 4900;     ///< parts that meet: sums stored, counter, fences
  double adding_bytes = 23;  ///< of stored sums a clock, read by one team
};

/// What the first slabs and the writing of C take of a tile of a batch, whose slabs are few, unless other teams
/// of the multiprocessor have work meanwhile.
inline constexpr double tile_start_time = 12000;

/// What a device offers to teams.
struct device_size {
  int units;               ///< multiprocessors
  std::size_t unit_bytes;  ///< of scratch on each

  int teams(const tuning_row& r) const {  // of a row on a multiprocessor
    const std::size_t fit = unit_bytes / (local_bytes(r) + 1024);
    return int(std::clamp<std::size_t>(fit, 1, std::size_t(r.config.teams)));
  }
  friend bool operator==(const device_size&, const device_size&) = default;
};

/// Time to add up `parts` sums of a tile, `fan_in` at once.
inline double adding_time(const time_model& t, int parts, int fan_in, double tile_bytes) {
  double time = 0;
  for (; parts > 1; parts = (parts + fan_in - 1) / fan_in)
    time += t.meeting + std::min(parts, fan_in) * tile_bytes / t.adding_bytes;
  return time;
}

/// Predicted time of a problem on a row: waves of teams; in a wave, for each slab, the longest of products, of
/// copies and of the wait for them, rounded over where they are alike; then the meetings of parts. One warp in
/// each of the four schedulers reaches 0.8 of the products' speed.
inline double predicted_time(const tuning_row& r, index_t m, index_t n, index_t k,
                             const detail::split_plan& split, const device_size& device,
                             const time_model& t = {}) {
  const tiling::config& c = r.config;
  const double tiles = double((m + c.block.m - 1) / c.block.m) * double((n + c.block.n - 1) / c.block.n);
  const double slabs = double((std::min(k, split.k_per_part) + c.block.k - 1) / c.block.k);
  const double products = double(c.block.m) * c.block.n * c.block.k / (t.fmas * r.efficiency);
  const double bytes = double(c.block.m + c.block.n) * c.block.k * r.element_bytes;
  const double wait = t.latency / (c.stages - 0.77);
  const auto wave = [&](double teams) {  // on one multiprocessor
    if (teams == 0) return 0.0;
    const double multiply = teams * products * (1 + 1 / (teams * c.warps()));
    const double copy = teams * bytes / t.memory_bytes;
    return slabs * std::cbrt(multiply * multiply * multiply + copy * copy * copy + wait * wait * wait);
  };
  const int resident = device.teams(r);
  const double teams = tiles * split.parts, slots = double(device.units) * resident;
  const double waves = std::floor(teams / slots);
  return waves * wave(resident) + wave(std::ceil((teams - waves * slots) / device.units)) +
         adding_time(t, split.parts, split.fan_in, double(c.block.m) * c.block.n * r.element_bytes);
}

/// The split with about `parts` parts, all but the last of the same whole number of slabs.
inline detail::split_plan plan_parts(const tuning_row& r, index_t k, int parts) {
  const int slab = r.config.block.k;
  detail::split_plan plan;
  plan.k_per_part = ((k + parts - 1) / parts + slab - 1) / slab * slab;
  plan.parts = int((k + plan.k_per_part - 1) / plan.k_per_part);
  plan.fan_in = plan.parts;
  const time_model t;
  const double tile_bytes = double(r.config.block.m) * r.config.block.n * r.element_bytes;
  for (const int fan_in : {32, 16, 8})
    if (adding_time(t, plan.parts, fan_in, tile_bytes) < adding_time(t, plan.parts, plan.fan_in, tile_bytes))
      plan.fan_in = fan_in;
  return plan;
}

/// Parts that are tried, the least of k that one may have, and the most memory that sums may take.
inline constexpr int parts_tried[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512};
inline constexpr index_t least_k_per_part = 32;
inline constexpr double most_sum_bytes = 64 << 20;

/// The fastest split of a problem on a row, and its time.
struct split_choice {
  detail::split_plan plan;
  double time;
};

inline split_choice choose_split(const tuning_row& r, index_t m, index_t n, index_t k,
                                 const device_size& device) {
  const tiling::shape& block = r.config.block;
  const double tiles = double((m + block.m - 1) / block.m) * double((n + block.n - 1) / block.n);
  split_choice best{{}, std::numeric_limits<double>::infinity()};
  for (const int parts : parts_tried) {
    const detail::split_plan plan = plan_parts(r, k, parts);
    // More teams than fill the machine twice only add sums.
    if (parts > 1 && (!r.config.splits_k || plan.k_per_part < least_k_per_part ||
                      tiles * (plan.parts - 1) > 2.0 * device.units * r.config.teams ||
                      tiles * plan.parts * block.m * block.n * r.element_bytes > most_sum_bytes))
      break;
    const double time = predicted_time(r, m, n, k, plan, device);
    if (time < best.time) best = {plan, time};
  }
  return best;
}

/// The first rows and columns of C, for tiles that are chosen for them; what is left, if anything, is narrow and
/// computed apart.
struct main_part {
  index_t m, n;
};

/// The most rows or columns that may be left, the least extent to leave some, and what the model has to know of
/// such a strip: bytes a clock of a device whose operands are not aligned, and of a launch.
inline constexpr index_t most_left = 32, least_extent_to_cut = 512;
inline constexpr double strip_bytes = 14, launch_time = 12000;

/// The fastest way to cut a problem: whole tiles, of which a row more for a few rows of C can cost as much as
/// hundreds of others, and strips. `time(m, n)` is that of a part on its best tile.
template <class Time>
main_part choose_main_part(index_t m, index_t n, index_t k, std::size_t element_bytes,
                           const device_size& device, const Time& time) {
  const auto whole = [](index_t extent) {
    const index_t left = extent % 64;
    return extent < least_extent_to_cut || left > most_left ? extent : extent - left;
  };
  const auto strip = [&](index_t rows, index_t cols) {
    if (rows == 0) return 0.0;
    const double bytes = double(rows + cols) * double(k) * double(element_bytes);
    const double products = rows == 1 ? 0 : time(cols, rows);
    return std::max(products, bytes / (strip_bytes * device.units)) + launch_time;
  };
  main_part best{m, n};
  const main_part candidates[] = {{whole(m), n}, {m, whole(n)}, {whole(m), whole(n)}};
  double best_time = -1;
  for (const main_part& part : candidates) {
    if (part.m == m && part.n == n) continue;
    if (best_time < 0) best_time = time(m, n);
    const double t = time(part.m, part.n) + strip(m - part.m, n) + strip(n - part.n, part.m);
    if (t < best_time) best = part, best_time = t;
  }
  return best;
}

/// A row of a table and its split.
struct tile_choice {
  int row = -1;
  detail::split_plan plan;
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
  device_size device{};
  friend bool operator==(const choice_key&, const choice_key&) = default;
};

}  // namespace keramos::backend::simt

// How the GPU backends list their tiles, and what the choice among them knows of a device.
#pragma once

#include <cstddef>

#include <keramos/tile/operand_types.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::simt {

// Types as rows name them.
inline constexpr tiling::operand_types f32 = tiling::all(scalar_type::f32);
inline constexpr tiling::operand_types f64 = tiling::all(scalar_type::f64);
inline constexpr tiling::operand_types tf32 = tiling::rounded_to_tf32();
inline constexpr tiling::operand_types tf32x3 = tiling::split_in_tf32();
inline constexpr tiling::operand_types i8 = tiling::bytes();
inline constexpr tiling::operand_types i32 = tiling::all(scalar_type::i32);
inline constexpr tiling::operand_types c32 = tiling::all(scalar_type::c32);
inline constexpr tiling::operand_types c64 = tiling::all(scalar_type::c64);
inline constexpr tiling::operand_types f8 = tiling::halves(scalar_type::f8);
inline constexpr tiling::operand_types f16 = tiling::halves(scalar_type::f16);
inline constexpr tiling::operand_types bf16 = tiling::halves(scalar_type::bf16);
inline constexpr tiling::operand_types f16xf32 = tiling::mixed(scalar_type::f16, scalar_type::f32);
inline constexpr tiling::operand_types bf16xf32 = tiling::mixed(scalar_type::bf16, scalar_type::f32);
inline constexpr tiling::operand_types f32xc32 = tiling::mixed(scalar_type::f32, scalar_type::c32);
inline constexpr tiling::operand_types f64xc64 = tiling::mixed(scalar_type::f64, scalar_type::c64);

/// What a row of a tile table is for.
enum class serves { all, single, batches };

/// A row of a tile table: for which architectures (the least, of warpgroups the only one, in the backend's own numbers) and
/// types, and how. `efficiency` is the fraction of the multiprocessor's 128 FMAs a clock that the tile reaches where
/// nothing else holds it up. `start`, where it was measured, is the clock cycles that teams of a single product take before their
/// first k-tile and behind their last.
struct tile_row {
  int arch;
  tiling::operand_types types;
  tiling::config config;
  double efficiency;
  simt::serves serves = simt::serves::all;
  double start = 0;
};

/// Elements that FMA units convert to numbers of four bytes as they read them: tiles of f32 serve them too.
inline constexpr tiling::operand_types converted_types[] = {f16, bf16, i8, f8};

/// A table's rows for FMA units and such types, and for all units.
template <int Rows>
constexpr int fma_rows(const tile_row (&table)[Rows], const tiling::operand_types& types) {
  int count = 0;
  for (const tile_row& row : table) count += row.types == types && row.config.math == tiling::math_unit::fma;
  return count;
}
template <int Rows>
constexpr int rows_of(const tile_row (&table)[Rows], const tiling::operand_types& types) {
  int count = 0;
  for (const tile_row& row : table) count += row.types == types;
  return count;
}
template <int Rows>
constexpr int rows_with_converted_types(const tile_row (&table)[Rows]) {
  int count = Rows;
  for (const tiling::operand_types& types : converted_types)
    if (rows_of(table, types) == 0) count += fma_rows(table, f32);
  return count;
}

/// `rows` are those of a table and, behind them, those of f32 for FMA units once more for each of the converted types that it
/// has none for.
template <auto& Table>
inline constexpr auto with_converted_types = [] {
  struct {
    tile_row rows[rows_with_converted_types(Table)];
  } all{};
  int next = 0;
  for (const tile_row& row : Table) all.rows[next++] = row;
  for (const tiling::operand_types& types : converted_types) {
    if (rows_of(Table, types) > 0) continue;
    for (const tile_row& row : Table)
      if (row.types == f32 && row.config.math == tiling::math_unit::fma) {
        all.rows[next] = row;
        all.rows[next++].types = types;
      }
  }
  return all;
}();

/// A device as the choice of a tile sees it. Times are in clock cycles, bytes and products are those of one clock and
/// one multiprocessor.
///
/// The defaults are fits to 800 timings of 25 tiles in 1 to 384 parts on 14 shapes of f32 and f64 on an H200, cold
/// caches; its choices cost 2 % over the best of them. Other GPUs' clocks and caches have the same order of size, and
/// only ratios matter.
struct device_model {
  int units;               ///< multiprocessors
  std::size_t unit_bytes;  ///< of scratch on each

  double fmas = 128;  ///< products
  /// The warps with which a multiprocessor reaches half of `fmas`; w warps reach w / (w + this). So one warp in each of four
  /// schedulers reaches 0.8 of it.
  double warps_at_half_speed = 1;
  double latency = 1200;  ///< from asking for a k-tile until it is there
  /// Stages of a team that are being multiplied, and so not being filled.
  double stages_in_use = 0.77;
  double memory_bytes = 65;  ///< of operands
  /// Bytes of the last-level cache, or 0 where they are not known. From wave to wave teams that read the same rows or columns
  /// drift apart, and find less of what others have read the more of these caches a wave reads: half as many bytes come in a
  /// clock where such caches, times the root of the waves less one, are `drift`; and at least those of memory itself. From f64
  /// on an H100, n = 4096 to 32768.
  double cache_size = 0, drift = 80, least_memory_bytes = 15;
  double meeting = 4900;             ///< parts that meet: sums stored, counter, fences
  double meeting_with_start = 3800;  ///< the same on rows that say what a start takes
  double adding_bytes = 23;          ///< of stored sums, read by one team
  /// The same of sums that a team of eight warps reads one by one: f32, n = 256 to 512, an H200.
  double single_adding_bytes = 38;
  double strip_bytes = 14;  ///< of operands that are not aligned, of a strip of C that is computed apart
  double launch_time = 12000;
  /// Whole tiles before divided ones, and strips and corners apart, are chosen if they take at most this part of the time
  /// without. The model is no better than that: f32 with n = 1200 took 6 % longer where it saw no difference.
  double gain_enough = 0.98;
  /// By what the predicted time of a corner of C is multiplied that is computed apart (gemm_part): f32 and f64 of 40 shapes on an
  /// H200 took longer with large corners than the model said, f64 also without a gain from full waves, since power limits it.
  double corner_time = 1.25;
  double copied_bytes = 17;  ///< read and written, where operands are copied beforehand
  /// The latency and the bytes of operands of which rows begin anywhere, so that short elements are shifted (staging::shifts).
  /// These and what takes C and starts were fitted to 1,300 times of 160 shapes of bf16 on an H200, most of them random: choices
  /// cost 3 to 4 % over the best of nine tiles.
  double shifted_latency = 2600, shifted_bytes = 10;
  /// Bytes of operands of which short elements are copied in words of 8 or 4 bytes: bf16, 2000 x 1000 x 1000 in tiles of 64x64x32
  /// on an H100, with a pitch longer than the row.
  double double_word_bytes = 17, word_bytes = 12;
  /// How many short elements of C a multiprocessor writes in a clock: where rows are aligned, where they begin anywhere, and
  /// where columns are neighbours. `start` is what teams take before their first k-tile and behind their last.
  struct writes {
    double vectors, rows, columns, start;
  } warpgroup_writes{100, 7.6, 13, 3800}, team_writes{6.5, 5.5, 3.9, 3600};
  /// The same of elements of four and eight bytes, on rows that say what a start takes (tile_row). These, the starts and
  /// meeting_with_start were fitted to 15,000 times, by gemm_options::plan, of 230 shapes of f32 and of f64 on an H200, most of them
  /// random. 70 other random shapes take 3 % (f32) and 4 % (f64) less time than by efficiencies alone; of f32 a part is sum_block's.
  /// When more of C came to be written through it, a new fit gave 7, 3.3 and 3.3, and choices within 0.3 % of these. Its own start
  /// is not asked: rows have theirs.
  writes long_writes{8.4, 2.7, 2.5, 0};
  /// Elements of operands that a multiprocessor copies beforehand in a clock: bf16, an H200.
  double short_elements_copied = 8;
  /// What the first k-tiles and the writing of C take of a tile of a batch, whose k-tiles are few, unless other teams of
  /// the multiprocessor have work meanwhile. Not of short elements, whose `start` and `writes` say it.
  double tile_start_time = 12000;

  /// Scratch of a multiprocessor that the system takes for each team besides what the team asks for (CUDA C++ Programming
  /// Guide, "Shared Memory" of compute capability 8.0 to 12.0).
  std::size_t reserved_team_bytes = 1024;
  int dies = 1;  ///< to which teams are dealt out in turn, each with a last-level cache of its own

  /// Memory that sums of parts of k may take. Not measured: a bound for the workspace.
  double most_sum_bytes = 64 << 20;

  /// Emulated products (gemm/plan/residues.hpp): by what the predicted times of the products of remainders, and of what is read
  /// and written besides, are multiplied, since these kernels compute as well; and how many small kernels are launched, each in
  /// half a launch_time. From f64 with n = 4096, 8192 and 16384 on an H200: 2.66, 14.9 and 110 ms, where f64 as such takes 2.35,
  /// 19.1 and 164 ms.
  double remainder_products = 0.9, remainder_bytes = 4.2;
  int remainder_launches = 40;

  /// A matrix times a vector: teams of a multiprocessor that keep its memory busy, and the least steps of a thread for which
  /// it is worth being there. Measured on an H200.
  int vector_teams = 6, vector_steps = 8;

  /// The most rows or columns of C that count as few. They are made columns by transposing, since the narrow tiles have few
  /// columns.
  index_t most_narrow = 64;
  /// The most rows or columns of C where C's layout decides whether a product is transposed. Above, matrix units decide, which
  /// read A fastest where its memory runs along k, and B where it runs along n (H200, f64: 4 % at n = 4096).
  index_t most_extent_to_suit_c = 1024;

  /// The most rows or columns of C that may be computed apart, and the least extent to leave some.
  index_t most_left = 32, least_extent_to_cut = 512;

  /// Where copies of operands pay that tiles cannot stage in vectors in place: the least rows and columns of C where
  /// one operand may be copied, where both are, and the least k. An H200 copies an element in the time of 12 products of
  /// a full machine, and a tile whose copies are vectors gains 5 to 15 % on FMA units (which stage one of two operands
  /// element by element as it is), 30 % on tensor cores.
  index_t least_extent_to_pack = 1500, least_extent_to_pack_both = 900, least_k_to_pack = 500;
  /// The same, of k too, of elements that are too short for asynchronous copies one by one. Before it shifted them (staging::shifts)
  /// an H200 took five times as long for f16, 505 x 2743 x 2584 (TN), as with the copy.
  index_t least_extent_to_pack_short = 32;
  /// Memory for a copy of an operand that FMA units could as well read along k, with one load for each element. On an H200,
  /// by plans whose pack_a and pack_b were set, f32 with both copied takes 1 to 3 % less time than with one, NT, n = 1536 to
  /// 3000, and NN with A copied up to 3 % less than with none, n = 2048 to 4096. Complex numbers of 8 bytes take 3 to 8 % less:
  /// for them it is most_packed_bytes, and one operand is copied in bands if it takes more.
  std::size_t most_bytes_to_transpose = std::size_t(64) << 20;
  /// The least rows and columns of C where a k that would be divided is not, for the copies' sake.
  index_t least_extent_to_pack_divided = 256;
  /// Where rows of an operand begin inside of sectors of memory, tiles of warpgroups copy slowly: an H100 does 476 TFLOP/s of
  /// bf16 with n = 8200, where it does 720 with 8192. A copy with aligned rows pays for B from so many rows of C on, times the
  /// part that columns are of a tile's rows and columns; likewise for A. With both the H100 does 562. Fewer are enough for the
  /// operand that has the larger part: with B's copy the H100 does 418 instead of 429 with n = 2008, 415 instead of 388
  /// with 2504 and 466 instead of 402 with 3000; with both 352, 367 and 425.
  index_t least_extent_to_align = 2048;
  double enough_for_larger_part = 0.75;
  std::size_t most_packed_bytes = std::size_t(256) << 20;  ///< of one operand
  /// Of remainders of operands and of C, where products are emulated.
  std::size_t most_emulation_bytes = std::size_t(1) << 30;
};

}  // namespace keramos::backend::simt

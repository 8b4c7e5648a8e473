// What the choice of a product's way knows of a host: figures of processors that were measured, Zen 5 and 16 cores of
// Emerald Rapids (a virtual machine) where nothing else is said. Only their sizes relative to each other matter.
#pragma once

#include <cstddef>

#include <keramos/base/index.hpp>

namespace keramos::backend::host::model {

// --- Where packing does not pay ------------------------------------------------------------------

/// Unpacked B stays in the second-level cache, from one block of A to the next, if the cache has so many times that. Of an A that
/// runs along m more lines are in use at a time. (Zen 3, whose cache has 512 KiB: 1,600 random products of f32 and f64 from
/// operands in no cache, both paths by gemm_options::plan. Of those that these figures choose 61 take more than a ninth longer
/// than by the other path.)
inline constexpr index_t cached_bytes_of_b = 256 * 1024;
inline constexpr index_t times_of_cached_b = 2, times_of_cached_b_along_m = 4;
/// One thread packs complex B from that over this on: a byte of it is multiplied twice as often as one of real numbers, so packing
/// is a smaller part of the work. Several threads would have to wait for each other's packing. (Emerald Rapids,
/// gemm_options::plan for either path, n from 64 to 512. One thread: from 128 to 256 KiB now one path is ahead and now the other,
/// by 20 % at most; then packed is, but for c64 of n = 256 with B transposed, 6 % behind. With 4 and 16 threads it is from
/// somewhere between 256 and 800 KiB on.)
inline constexpr index_t less_for_complex_alone = 2;
/// Elements of A along k that are so far apart are at most two on a page. Such an A is packed if it is larger than the
/// second-level cache. Found on Zen 4 with op T of A; on Zen 3 half a page counts as well.
inline constexpr index_t far_apart_bytes = 2048;
/// Products an element of C. AVX2's kernel writes a long C row after row with more of them (bytes_of_long_c).
inline constexpr int few_products = 32, few_products_avx2 = 64;
inline constexpr index_t few_rows = 32;  ///< B is read once or twice in any case
/// The same, where B is laid out in blocks and A runs along k.
inline constexpr index_t few_rows_of_strided_b = 128;

// --- Narrow products of real floats, packed or not, transposed or not -----------------------------

/// Extents of C of which one is no larger; and the least k for which Cᵀ is computed instead of C, which is then written in
/// blocks. `gain_enough`: another way has to be faster than what the figures above choose.
inline constexpr index_t most_narrow = 64, least_k_to_transpose = 48;
inline constexpr double gain_enough = 0.95;
/// What ways take, in products of vectors of bytes_of_costs_vectors: of a byte of an operand or of C, and of a call. A byte of B is
/// read or laid out once. (Least squares of the relative errors of 9,600 times, by gemm_options::plan, on one thread of Zen 4 and
/// of Emerald Rapids: f32 and f64, extents of C of 3 to 2,000 and of 8,192 by 130, k of 16 to 8,192, from operands in no cache.
/// Ways that these figures choose were 1.05 and 1.04 times as fast as without them in the geometric mean; of a hundred one was
/// slower, by 12 % or more on Emerald Rapids. On its 16 cores 600 narrow products were 1.06 times as fast in f32, and 1.09 in f64.
/// By AVX2's kernels 190 on Zen 4 were 1.03 and 1.02 times as fast.)
struct way_costs {
  double vector, of_a, of_a_along_m, of_b, of_c, of_transposed_c, call;
};
inline constexpr int bytes_of_costs_vectors = 64;
inline constexpr way_costs unpacked_costs = {1.1, 0.08, 0.25, 0.25, 0.18, 0.68, 1700},
                           packed_costs = {1.05, 0.27, 0.27, 0.27, 0.3, 0.7, 2400};

/// The least k where few columns are done as dot products along k: their vectors of sums have to be added up in the end.
inline constexpr index_t least_dot_depth = 32;
/// The most rows of A for which B's columns are not laid out for that, if B has two or more (Zen 4, keramos-perf gemm --m 4 --n 4
/// --k 10000: 1.5 times as fast without; f64 gains even with 100 rows).
inline constexpr index_t few_rows_of_dots = 12;

// --- Kernels that do not pack (gemm/host): Zen 4 where nothing else is said --------------------

/// With so few columns of A little is done to an element of C: what counts is that C is written row after row. Cores with AVX2 do
/// so up to most_k_of_wide_tile if C has more than `bytes_of_long_c`. (Zen 3, k = 33 to 128: from operands in no cache 1.03 to 1.1
/// times as fast, from cached ones within 5 %.)
inline constexpr int few_columns_of_a = 32;
inline constexpr index_t bytes_of_long_c = 128 * 1024;
/// Rows of A that are no longer than `short_row_of_a` are short: a prefetcher follows `rows_of_a_followed` of them (Zen 5).
inline constexpr int short_row_of_a = 64, rows_of_a_followed = 6;
/// With more columns of A fewer columns of B stay in the first-level cache than a wide tile has.
inline constexpr int most_k_of_wide_tile = 128;
/// Rows of B of more than `long_row_bytes` are long: prefetchers follow `long_rows_together` of them. With 64 a vector times a
/// matrix takes half as long again or more (keramos-perf gemm --m 1 --n 2000 --k 2000). Of shorter rows more are better.
inline constexpr int long_row_bytes = 2560, long_rows_together = 8, short_rows_together = 64;
/// A B that is larger than cached_bytes_of_b is taken in blocks of these rows and bytes: rows long enough for memory, blocks
/// small enough for the second-level cache.
inline constexpr int rows_of_b_block = 128, bytes_of_b_block = 64 * 1024;
/// Cores with AVX2 take fewer rows, and read them in the order in which they lie in memory before they multiply them. (Zen 3,
/// m = 3 to 32, B of 0.3 to 80 MB: 1.3 times as fast if B is in no cache, 1.05 times if it is.)
inline constexpr int rows_of_b_block_avx2 = 64;
/// An A that runs along m is taken in parts of so many columns, which are on as many pages or fewer, and a B that runs along k in
/// parts of so many rows.
inline constexpr int most_k_of_part = 512;
/// So much of A, in rows, stays in the second-level cache while all columns of B pass by. Zen 3, whose cache has 512 KiB.
inline constexpr int bytes_of_a_block = 192 * 1024;
/// Where B's rows do not run through memory, so much of it is laid out at a time; of complex numbers half.
inline constexpr int bytes_laid_out = 64 * 1024;
/// While that multiplies, the next part is asked for, and while a tile multiplies the next one's rows of A. Not longer columns or
/// rows, which prefetchers follow by themselves and which then take longer (keramos-perf gemm --op NT --m 16 --n 1000 --k 1000;
/// --m 5 --n 1812 --k 55). Rows of A on Zen 4, one thread, f32: --m 6667 --n 16 --k 128 takes half as long, --m 1010 --n 7 --k 131
/// also, --m 835 --n 11 --k 855 a quarter longer.
inline constexpr int most_asked_bytes = 1536;

// --- Where one thread is enough --------------------------------------------------------------------

/// Products m·n·k of a problem of a batch up to which a thread takes all of it.
inline constexpr index_t small_volume = 128 * 128 * 128;
/// The same from which on all threads do one problem of a batch after the other, rather than each its own, which it then
/// packs for itself.
inline constexpr double shared_volume = 512.0 * 512.0 * 512.0;
/// The same, of one problem, up to which to wake other threads takes longer than to multiply alone, in which time one
/// multiplies twice as many f32 as f64, and `kernel_table::speed` times as many by faster instructions. Emerald Rapids:
/// keramos-perf gemm --size 48,56,64,72.
template <class T>
inline constexpr index_t alone_volume = index_t(52 * 52 * 52) * 8 / index_t(sizeof(T));
/// Elements of A and B, if they are of the accumulators' type: more of them come faster to many threads.
inline constexpr index_t alone_elements = 16384;

// --- Memory ------------------------------------------------------------------------------------------

/// What packed B may take of memory at once.
inline constexpr std::size_t most_packed_bytes = std::size_t(256) << 20;
/// Sums of a tile: what they may take of cache. A core that works alone has the shared cache to itself, and the
/// wider its tiles are, the less often A is packed.
constexpr std::size_t most_sum_bytes(int threads) { return std::size_t(threads == 1 ? 4 : 1) << 20; }

// --- What sharing costs, in products of the same thread ----------------------------------------------

/// Packing as many bytes as a number of the accumulators' type has, of which products take as long as those of vectors. One
/// that a tile packs for itself stays in its core's caches. One that is packed for all threads takes the longer the more there
/// are, probably as its line has to leave the caches of all that read it last; each tile then reads it from the shared cache.
/// Emerald Rapids, f32 and f64.
inline constexpr double pack_cost = 17, shared_pack_cost = 8, shared_pack_cost_a_thread = 16,
                        shared_read_cost = 4;
/// Tiles that threads wait for at the end: they take tiles as they become free, but are never equally fast. On Emerald
/// Rapids they took 10 to 20 tiles each of one product.
inline constexpr double tiles_waited_for = 1;
/// Adding up an element of a part of k that another thread has just written.
inline constexpr double adding_cost = 64;
/// The least of k for a part.
inline constexpr int least_depth = 256;
/// Reading an element of A or B for a block that is not packed.
inline constexpr double read_cost = 4;

// --- How threads pack B for each other ---------------------------------------------------------------

/// `panels_together` panels are handed out at a time if each thread has at least `panels_of_thread` to pack: else threads would
/// wait for the last.
inline constexpr int panels_together = 4, panels_of_thread = 8;

}  // namespace keramos::backend::host::model

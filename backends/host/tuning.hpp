// The machine that a host GEMM runs on: block tiles from tuning_table.hpp, shared out over the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>

#include <keramos/backends/host/copy.hpp>
#include <keramos/backends/host/kernels.hpp>
#include <keramos/backends/host/mma.hpp>
#include <keramos/backends/host/small_batch.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/core/launch.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/core/workspace.hpp>
#include <keramos/gemm/choice_memory.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::host {

template <class Exec, class T>
class machine {
  using stager = typename backend::copy<Exec>::template stager<T>;

 public:
  static constexpr int stages = 1;
  static constexpr int team_size = 1;
  static constexpr int teams_per_unit = 1;
  static constexpr bool splits_k = false;

  machine(const kernel_table<T>& kernels, const tile::shape& block, const packed_operand<T>& packed_b = {},
          shared_packing<T>* packing = nullptr)
      : kernels_(&kernels), block_(block), packed_b_(packed_b), packing_(packing) {}

  KERAMOS_FORCEINLINE_FUNCTION tile::shape block() const { return block_; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return x; }
  /// Micro-tiles are cut to fit where a tile ends early.
  static bool can_shift_m(const gemm_problem<T>&) { return false; }
  static bool can_shift_n(const gemm_problem<T>&) { return false; }
  /// Bytes of scratch: a slab of A, one of B unless it is packed already, and the sums.
  KERAMOS_FORCEINLINE_FUNCTION std::size_t local_bytes() const {
    return a_bytes() + b_bytes() + sum_bytes() + 3 * alignment;
  }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION auto operands(const Team& team, const gemm_problem<T>& p,
                                             const tile::position& at) const {
    if (packing_) packing_->finish();
    T* a_local = local(team, a_bytes());
    T* b_local = packed_b_.data ? nullptr : local(team, b_bytes());
    return stager(*kernels_, p, at, block_.k, packed_b_, a_local, b_local);
  }
  template <class Team, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const gemm_problem<T>& p,
                                                const tile::position& at, const Epilogue& epilogue) const {
    using type = typename backend::mma<Exec>::template accumulator<T, Epilogue>;
    return type(*kernels_, p, at, epilogue, local(team, sum_bytes()));
  }

 private:
  static constexpr std::size_t alignment = 128;

  KERAMOS_FORCEINLINE_FUNCTION static std::size_t up(int value, int unit) {
    return std::size_t(value + unit - 1) / unit * unit;
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t a_bytes() const {
    return sizeof(T) * up(block_.m, kernels_->mr) * block_.k;
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t b_bytes() const {
    return packed_b_.data ? 0 : sizeof(T) * up(block_.n, kernels_->nr) * block_.k;
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t sum_bytes() const {
    return sizeof(T) * up(block_.m, kernels_->mr) * up(block_.n, kernels_->nr);
  }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION T* local(const Team& team, std::size_t bytes) const {
    const int level = backend::traits<Exec>::scratch_level(local_bytes());
    return static_cast<T*>(team.team_scratch(level).get_shmem_aligned(bytes, alignment));
  }

  const kernel_table<T>* kernels_;
  tile::shape block_;
  packed_operand<T> packed_b_;
  shared_packing<T>* packing_;
};

/// Where packing does not pay, measured on AMD Zen 5 and Intel Emerald Rapids.
/// B stays in the cache as it lies, if there is four times that.
inline constexpr index_t cached_bytes_of_b = 256 * 1024;
inline constexpr index_t few_products = 32;            ///< products an element of C
inline constexpr index_t few_rows = 32;                ///< B is read once or twice in any case
inline constexpr index_t few_rows_of_strided_b = 128;  ///< the same, where it is laid out in blocks
/// Products m·n·k of a problem of a batch up to which a thread takes all of it.
inline constexpr index_t small_volume = 128 * 128 * 128;
/// The same, of one problem, up to which to wake other threads takes longer than to multiply alone: 16 of them
/// about 5 us, in which one multiplies twice as many f32 as f64.
template <class T>
inline constexpr index_t alone_volume = index_t(52 * 52 * 52) * 8 / index_t(sizeof(T));
inline constexpr index_t alone_elements = 16384;  ///< of A and B: more of them come faster to many threads

/// Sums of a tile, and packed B of a call: what they may take of cache and of memory. A core that works alone has
/// the shared cache to itself, and the wider its tiles are, the less often A is packed.
constexpr std::size_t most_sum_bytes(int threads) { return std::size_t(threads == 1 ? 4 : 1) << 20; }
inline constexpr std::size_t most_packed_bytes = std::size_t(256) << 20;

inline index_t ceil_div(index_t a, index_t b) { return (a + b - 1) / b; }

/// What packing costs, in products of the same thread. An element that a tile packs for itself stays in its core's
/// caches. One that is packed for all threads takes the longer the more there are, as its line is fetched back from
/// all that read it last; each tile then reads it from the shared cache. Measured on 2 cores of Zen 5 and 16 of
/// Emerald Rapids, f32 and f64.
inline constexpr double pack_cost = 19, shared_pack_cost = 8, shared_pack_cost_a_thread = 19,
                        shared_read_cost = 4;
/// Tiles that threads wait for at the end: they take tiles as they become free, but are never equally fast (by a
/// factor of two on a virtual machine with neighbours, where fewer, larger tiles lost 10 to 20 % at n = 1024).
inline constexpr double tiles_waited_for = 1;

/// A block tile, and whether B is packed for all tiles at once or by each for itself.
struct block_choice {
  tile::shape block;
  bool shares_b;
};

/// The block tile that finishes first by a count of work: a tile costs its products and the packing of its
/// operands, and threads without a tile wait. Alone, a thread packs B for all tiles if there is more than one row
/// of them.
template <class T>
block_choice choose_block(const kernel_table<T>& kernels, index_t m, index_t n, index_t whole_k,
                          int threads) {
  const index_t panels_m = ceil_div(m, kernels.mr), panels_n = ceil_div(n, kernels.nr);
  const index_t slabs = ceil_div(whole_k, kernels.kc);
  const int k = int(std::min<index_t>(ceil_div(ceil_div(whole_k, slabs), 8) * 8, whole_k));
  const double share_b = (shared_pack_cost + shared_pack_cost_a_thread * threads) * double(n) / threads;
  const bool alone = threads == 1;
  block_choice best{};
  double best_cost = 0;
  const auto consider = [&](index_t tiles_m, bool shares_b) {
    const index_t rows = ceil_div(panels_m, tiles_m) * kernels.mr;
    const index_t most_cols = shares_b ? index_t(most_sum_bytes(threads) / sizeof(T)) / rows : kernels.nc;
    const index_t least_tiles_n = ceil_div(panels_n * kernels.nr, std::max<index_t>(most_cols, kernels.nr));
    const index_t most_tiles_n = alone ? least_tiles_n : std::min(panels_n, least_tiles_n + 2 * threads);
    for (index_t tiles_n = least_tiles_n; tiles_n <= most_tiles_n; ++tiles_n) {
      const index_t cols = ceil_div(panels_n, tiles_n) * kernels.nr;
      const index_t tiles = ceil_div(m, rows) * ceil_div(n, cols);
      const double rounds = std::max(double(ceil_div(tiles, threads)),
                                     (double(tiles) + tiles_waited_for * (threads - 1)) / threads);
      const double tile = double(rows) * cols + pack_cost * double(rows) +
                          (shares_b ? shared_read_cost : pack_cost) * double(cols);
      const double cost = rounds * tile + (shares_b ? share_b : 0);
      if (best_cost == 0 || cost < best_cost) best_cost = cost, best = {{int(rows), int(cols), k}, shares_b};
    }
  };
  const index_t least_tiles_m = ceil_div(panels_m * kernels.mr, kernels.mc);
  if (alone) {
    consider(least_tiles_m, least_tiles_m > 1);
    return best;
  }
  for (index_t tiles_m = least_tiles_m; tiles_m <= std::min(panels_m, least_tiles_m + 4 * threads);
       ++tiles_m) {
    consider(tiles_m, false);
    consider(tiles_m, true);
  }
  return best;
}

/// What that choice depends on.
struct block_key {
  index_t m = 0, n = 0, k = 0;
  int threads = 0;
  const void* kernels = nullptr;
  friend bool operator==(const block_key&, const block_key&) = default;
};

template <class T>
bool direct_pays(const gemm_problem<T>& p) {
  if (p.c_col_stride != 1) return false;
  const index_t cached = std::min(cached_bytes_of_b, index_t(second_level_cache_bytes() / 4));
  return p.k <= few_products || p.n * p.k * index_t(sizeof(T)) <= cached ||
         p.m <= (p.b.stride_mn == 1 ? few_rows : few_rows_of_strided_b);
}

/// A problem in blocks of C and, where these are too few, parts of k, one an index.
template <class T>
struct direct_kernel {
  direct_problem<T> problem;
  void (*multiply)(const direct_problem<T>&);
  int rows, cols, depth;  ///< of a block, and of a part of k
  int blocks_m, blocks_n, parts;
  T* sums = nullptr;  ///< (parts, m, n), if there are several

  int size() const { return blocks_m * blocks_n * parts; }
  void operator()(int at) const {
    const int part_of_k = at / (blocks_m * blocks_n), block = at % (blocks_m * blocks_n);
    const int i = block / blocks_n * rows, j = block % blocks_n * cols;
    const std::int64_t p = std::int64_t(part_of_k) * depth;
    direct_problem<T> part = problem;
    part.m = std::min(rows, problem.m - i);
    part.n = std::min(cols, problem.n - j);
    part.k = int(std::min<std::int64_t>(depth, problem.k - p));
    part.a = problem.a + i * problem.a_row_stride + p * problem.a_col_stride;
    part.b = problem.b + j * problem.b_col_stride + p * problem.b_row_stride;
    if (parts > 1) {
      part.c = sums + (std::int64_t(part_of_k) * problem.m + i) * problem.n + j;
      part.c_row_stride = problem.n, part.c_col_stride = 1;
      part.beta = T(0);
    } else {
      part.c = problem.c + i * problem.c_row_stride + j * problem.c_col_stride;
    }
    multiply(part);
  }

  /// C from the parts' sums, part after part.
  void add_up() const {
    const std::int64_t elements = std::int64_t(problem.m) * problem.n;
    for (std::int64_t e = 0; e < elements; ++e) {
      T sum = sums[e];
      for (int part = 1; part < parts; ++part) sum += sums[part * elements + e];
      T& c = problem.c[e / problem.n * problem.c_row_stride + e % problem.n * problem.c_col_stride];
      c = problem.beta == T(0) ? sum : sum + problem.beta * c;
    }
  }
};

/// What it costs to add up an element of a part that another thread has just written, in products, and the least
/// of k for a part.
inline constexpr double adding_cost = 64;
inline constexpr int least_depth = 256;

/// As many blocks as threads, or fewer: those that read the least of A and B, if equally large. Blocks that divide
/// k read less, but one thread then adds up.
template <class T>
direct_kernel<T> share_out(const kernel_table<T>& table, const direct_problem<T>& p,
                           void (*multiply)(const direct_problem<T>&), int threads) {
  direct_kernel<T> best{p, multiply, 0, 0, 0, 0, 0, 0};
  double best_cost = 0;
  for (int parts = 1; parts <= threads && (parts == 1 || p.k / parts >= least_depth); parts *= 2) {
    const int depth = int(ceil_div(p.k, parts)), blocks = threads / parts;
    const double adding = parts == 1 ? 0 : adding_cost * parts * double(p.m) * p.n;
    for (int blocks_m = 1; blocks_m <= blocks; ++blocks_m) {
      const int rows = int(ceil_div(p.m, blocks_m));
      const int cols = int(ceil_div(ceil_div(p.n, blocks / blocks_m), table.nr) * table.nr);
      const double cost = (double(rows) * cols + 4.0 * (double(rows) + cols)) * depth + adding;
      if (best_cost != 0 && cost >= best_cost) continue;
      best_cost = cost;
      best.rows = rows, best.cols = cols, best.depth = depth;
      best.blocks_m = int(ceil_div(p.m, rows)), best.blocks_n = int(ceil_div(p.n, cols));
      best.parts = int(ceil_div(p.k, depth));
    }
  }
  return best;
}

template <class Exec>
struct tuning {
  /// Vectors run along the rows of C, so C should be row-major.
  template <class T>
  static bool prefers_transposed(const gemm_problem<T>& p) {
    return p.c_col_stride != 1 && p.c_row_stride == 1;
  }

  /// Multiplies the problem where it lies if packing does not pay; false if it does. On one thread, and
  /// where to wake others takes longer, the calling thread does it at once: Kokkos' host kernels are done
  /// when the launch returns, and so is this. But a tool of Kokkos that listens should see every kernel.
  template <class T>
  static bool run_direct(const Exec& exec, detail::workspace<Exec>& memory, const gemm_problem<T>& p,
                         const linear_epilogue<T>& epilogue) {
    const kernel_table<T>& table = kernels<T>();
    // Of tiny ones most time goes into such questions.
    const bool tiny = volume_within(p, alone_volume<T>) && (p.m + p.n) * p.k <= alone_elements;
    const index_t most = std::numeric_limits<int>::max() - 1024;  // kernels count in blocks of ints
    if (!tiny && (p.m > most || p.n > most || p.k > most)) return false;
    const auto runs_along_k = [](const tile::operand<T>& x) { return x.stride_k == 1; };
    const bool dots =
        p.k >= 32 && ((p.n <= table.dots && runs_along_k(p.a)) || (p.m <= table.dots && runs_along_k(p.b)));
    if (!dots && !(tiny ? p.c_col_stride == 1 : direct_pays(p))) return false;
    const direct_problem<T> whole = direct_problem_of(p, epilogue);
    auto* const multiply = dots ? table.multiply_dots : table.multiply_direct;
    const bool alone = tiny || exec.concurrency() == 1;
    if (alone && !Kokkos::Tools::profileLibraryLoaded())
      multiply(whole);
    else
      launch_direct(exec, memory, share_out(table, whole, multiply, alone ? 1 : int(exec.concurrency())));
    return true;
  }

  /// Whether a thread multiplies a problem of a batch best without packing.
  template <class T>
  static bool is_small(const gemm_problem<T>& p) {
    return volume_within(p, small_volume) && (p.c_col_stride == 1 || p.m * p.n <= most_scattered);
  }
  /// A batch whose problems are all small; false if they are not.
  template <class T, class Batch>
  static bool run_small(const Exec& exec, const Batch& batch, const gemm_problem<T>& shape,
                        const linear_epilogue<T>& epilogue) {
    if (!Batch::mixed && !is_small(shape)) return false;
    run_small_batch(exec, batch, epilogue);
    return true;
  }
  /// Whether one problem of a batch after the other keeps all threads busy, and as well or better than
  /// many at the same time, of which each packs for itself.
  template <class T>
  static bool fills_threads(const Exec& exec, const gemm_problem<T>& p, index_t count) {
    const tile::shape block = block_of_batch(p);
    const index_t tiles = count * ceil_div(p.m, block.m) * ceil_div(p.n, block.n);
    return tiles < exec.concurrency() || double(p.m) * double(p.n) * double(p.k) > 512.0 * 512.0 * 512.0;
  }
  /// As choose, for the tiles of a whole batch.
  template <class T, class CountTiles, class Launch>
  static void choose_batched(const Exec&, const gemm_problem<T>& p, const CountTiles&, const Launch& launch) {
    launch(machine<Exec, T>(kernels<T>(), block_of_batch(p)), p);
  }

  /// Calls `launch(machine, problem)` with the tile for this problem, or with the one that was asked for;
  /// more than once, for bands of columns, if packed B would take too much memory at once.
  template <class T, class Launch>
  static void choose(const Exec& exec, detail::workspace<Exec>& workspace, const gemm_problem<T>& p,
                     const std::optional<tile::shape>& requested, const Launch& launch) {
    const kernel_table<T>& table = kernels<T>();
    if (requested) return launch(machine<Exec, T>(table, *requested, {}), p);
    const index_t most_panels = index_t(most_packed_bytes / sizeof(T)) / table.nr / p.k;
    const index_t band = std::max<index_t>(most_panels, 1) * table.nr;
    for (index_t n0 = 0; n0 < p.n; n0 += band) {
      gemm_problem<T> part = p;
      part.b.data = p.b.at(n0, 0);
      part.c = p.c + n0 * p.c_col_stride;
      part.n = std::min(band, p.n - n0);
      const int threads = int(exec.concurrency());
      thread_local detail::choice_memory<block_key, block_choice> choices;
      const block_choice choice = choices.get({part.m, part.n, part.k, threads, &table}, [&] {
        return choose_block(table, part.m, part.n, part.k, threads);
      });
      launch(choice.shares_b ? packing_b(exec, workspace, table, part, choice.block)
                             : machine<Exec, T>(table, choice.block),
             part);
    }
  }

 private:
  template <class T>
  [[gnu::noinline]] static void launch_direct(const Exec& exec, detail::workspace<Exec>& memory,
                                              direct_kernel<T> kernel) {
    if (kernel.parts > 1) {
      const auto elements = std::size_t(kernel.problem.m) * kernel.problem.n;
      kernel.sums = memory.template reserve<T>(exec, kernel.parts * elements);
    }
    detail::launch("keramos::gemm", [&] {
      Kokkos::parallel_for("keramos::gemm", Kokkos::RangePolicy<Exec>(exec, 0, kernel.size()), kernel);
    });
    if (kernel.parts > 1) kernel.add_up();
  }

  /// A tile for one thread that packs both operands: no larger than the problem, and not much uneven.
  template <class T>
  static tile::shape block_of_batch(const gemm_problem<T>& p) {
    const kernel_table<T>& table = kernels<T>();
    const auto even = [](index_t extent, int most, int unit) {
      const index_t tiles = ceil_div(extent, most);
      return int(ceil_div(ceil_div(extent, tiles), unit) * unit);
    };
    return {even(p.m, table.mc, table.mr), even(p.n, table.nc, table.nr),
            int(ceil_div(p.k, ceil_div(p.k, table.kc)))};
  }

  /// The machine whose threads pack B for all of them before they multiply.
  template <class T>
  static machine<Exec, T> packing_b(const Exec& exec, detail::workspace<Exec>& workspace,
                                    const kernel_table<T>& table, const gemm_problem<T>& p,
                                    const tile::shape& block) {
    using packing = shared_packing<T>;
    const index_t panels = ceil_div(p.n, table.nr), elements = panels * table.nr * p.k;
    char* const memory =
        workspace.template reserve<char>(exec, sizeof(packing) + std::size_t(elements) * sizeof(T));
    T* const to = reinterpret_cast<T*>(memory + sizeof(packing));
    const int together = panels * ceil_div(p.k, block.k) >= 8 * exec.concurrency() ? 4 : 1;
    const pack_kernel<T> kernel{table.pack_b, p.b, p.n, p.k, panels, table.nr, block.k, to, together};
    return {table, block, {to, panels * table.nr, block.k}, new (memory) packing(kernel)};
  }
};

}  // namespace keramos::backend::host

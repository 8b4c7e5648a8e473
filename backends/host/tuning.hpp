// The machine that a host GEMM runs on: block tiles from tuning_table.hpp, shared out over the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>

#include <keramos/backends/host/copy.hpp>
#include <keramos/backends/host/kernels.hpp>
#include <keramos/backends/host/mma.hpp>
#include <keramos/backends/host/small_batch.hpp>
#include <keramos/backends/host/tile_choice.hpp>
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

  machine(const kernel_table<T>& kernels, const tiling::shape& block, const packed_operand<T>& packed_b = {},
          shared_packing<T>* packing = nullptr)
      : kernels_(&kernels), block_(block), packed_b_(packed_b), packing_(packing) {}

  KERAMOS_FORCEINLINE_FUNCTION tiling::shape block() const { return block_; }
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
                                             const tiling::position& at) const {
    if (packing_) packing_->finish();
    T* a_local = local(team, a_bytes());
    T* b_local = packed_b_.data ? nullptr : local(team, b_bytes());
    return stager(*kernels_, p, at, block_.k, packed_b_, a_local, b_local);
  }
  template <class Team, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const gemm_problem<T>& p,
                                                const tiling::position& at, const Epilogue& epilogue) const {
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
    return static_cast<T*>(team.team_scratch(0).get_shmem_aligned(bytes, alignment));
  }

  const kernel_table<T>* kernels_;
  tiling::shape block_;
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
/// The same, of one problem, up to which to wake other threads takes longer than to multiply alone, in which time one
/// multiplies twice as many f32 as f64. 16 cores of Emerald Rapids: keramos-perf gemm --size 48,56,64,72.
template <class T>
inline constexpr index_t alone_volume = index_t(52 * 52 * 52) * 8 / index_t(sizeof(T));
inline constexpr index_t alone_elements = 16384;  ///< of A and B: more of them come faster to many threads

/// What packed B may take of memory at once.
inline constexpr std::size_t most_packed_bytes = std::size_t(256) << 20;

template <class T>
bool direct_pays(const gemm_problem<T>& p) {
  if (p.c_col_stride != 1) return false;
  const index_t cached = std::min(cached_bytes_of_b, index_t(second_level_cache_bytes() / 4));
  return p.k <= few_products || p.n * p.k * index_t(sizeof(T)) <= cached ||
         p.m <= (p.b.stride_mn == 1 ? few_rows : few_rows_of_strided_b);
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
    const auto runs_along_k = [](const tiling::operand<T>& x) { return x.stride_k == 1; };
    const bool dots =
        p.k >= 32 && ((p.n <= table.dots && runs_along_k(p.a)) || (p.m <= table.dots && runs_along_k(p.b)));
    if (!dots && !(tiny ? p.c_col_stride == 1 : direct_pays(p))) return false;
    const direct_problem<T> whole = direct_problem_of(p, epilogue);
    auto* const multiply = dots ? table.multiply_dots : table.multiply_direct;
    const int threads = tiny ? 1 : threads_for(exec);
    if (runs_in_caller(exec) || (threads == 1 && !Kokkos::Tools::profileLibraryLoaded()))
      multiply(whole);
    else
      launch_direct(exec, memory, share_out(table, whole, multiply, threads));
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
    const tiling::shape block = block_of_batch(p);
    const index_t tiles = count * ceil_div(p.m, block.m) * ceil_div(p.n, block.n);
    return tiles < threads_for(exec) || double(p.m) * double(p.n) * double(p.k) > 512.0 * 512.0 * 512.0;
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
                     const std::optional<tiling::shape>& requested, const Launch& launch) {
    const kernel_table<T>& table = kernels<T>();
    if (requested) return launch(machine<Exec, T>(table, *requested, {}), p);
    const index_t most_panels = index_t(most_packed_bytes / sizeof(T)) / table.nr / p.k;
    const index_t band = std::max<index_t>(most_panels, 1) * table.nr;
    for (index_t n0 = 0; n0 < p.n; n0 += band) {
      gemm_problem<T> part = p;
      part.b.data = p.b.at(n0, 0);
      part.c = p.c + n0 * p.c_col_stride;
      part.n = std::min(band, p.n - n0);
      const int threads = threads_for(exec);
      thread_local detail::choice_memory<block_key, block_choice> choices;
      const block_choice choice = choices.get({part.m, part.n, part.k, threads}, [&] {
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
      for_each_index<Kokkos::RangePolicy<Exec>>("keramos::gemm", exec, kernel.size(), kernel);
    });
    if (kernel.parts > 1) kernel.add_up();
  }

  /// A tile for one thread that packs both operands: no larger than the problem, and not much uneven.
  template <class T>
  static tiling::shape block_of_batch(const gemm_problem<T>& p) {
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
                                    const tiling::shape& block) {
    using packing = shared_packing<T>;
    const index_t panels = ceil_div(p.n, table.nr), elements = panels * table.nr * p.k;
    char* const memory =
        workspace.template reserve<char>(exec, sizeof(packing) + std::size_t(elements) * sizeof(T));
    T* const to = reinterpret_cast<T*>(memory + sizeof(packing));
    const int together = panels * ceil_div(p.k, block.k) >= 8 * threads_for(exec) ? 4 : 1;
    const pack_kernel<T> kernel{table.pack_b, p.b, p.n, p.k, panels, table.nr, block.k, to, together};
    return {table, block, {to, panels * table.nr, block.k}, new (memory) packing(kernel)};
  }
};

}  // namespace keramos::backend::host

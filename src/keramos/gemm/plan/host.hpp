// How a host runs a product: block tiles from backends/host/tiles.hpp, shared out over the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>

#include <keramos/backends/host/caches.hpp>
#include <keramos/backends/host/team.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/host_panels.hpp>
#include <keramos/gemm/kernel/host/kernels.hpp>
#include <keramos/gemm/kernel/host_small_batch.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/host_model.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::host {

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
bool unpacked_pays(const gemm_problem<T>& p) {
  if (p.c_col_stride != 1) return false;
  const index_t cached = std::min(cached_bytes_of_b, index_t(backend::host::second_level_cache_bytes() / 4));
  return p.k <= few_products || p.n * p.k * index_t(sizeof(T)) <= cached ||
         p.m <= (p.b.stride_mn == 1 ? few_rows : few_rows_of_strided_b);
}

template <class Exec>
struct planner {
  /// Vectors run along the rows of C, so C should be row-major.
  template <class T>
  static bool prefers_transposed(const gemm_problem<T>& p) {
    return p.c_col_stride != 1 && p.c_row_stride == 1;
  }

  /// Multiplies the problem where it lies if packing does not pay; false if it does. On one thread, and
  /// where to wake others takes longer, the calling thread does it at once: Kokkos' host kernels are done
  /// when the launch returns, and so is this. But a tool of Kokkos that listens should see every kernel.
  template <class T>
  static bool run_untiled(const Exec& exec, workspace<Exec>& memory, const gemm_problem<T>& p,
                          const linear_epilogue<T>& epilogue) {
    const kernel_table<T>& table = kernels<T>();
    // Of tiny ones most time goes into such questions.
    const bool tiny = volume_within(p, alone_volume<T>) && (p.m + p.n) * p.k <= alone_elements;
    const index_t most = std::numeric_limits<int>::max() - 1024;  // kernels count in blocks of ints
    if (!tiny && (p.m > most || p.n > most || p.k > most)) return false;
    const auto runs_along_k = [](const tiling::operand<T>& x) { return x.stride_k == 1; };
    const bool dots =
        p.k >= 32 && ((p.n <= table.dots && runs_along_k(p.a)) || (p.m <= table.dots && runs_along_k(p.b)));
    if (!dots && !(tiny ? p.c_col_stride == 1 : unpacked_pays(p))) return false;
    const unpacked_problem<T> whole = unpacked_problem_of(p, epilogue);
    auto* const multiply = dots ? table.multiply_dots : table.multiply_unpacked;
    const int threads = tiny ? 1 : backend::host::threads_for(exec);
    if (backend::host::runs_in_caller(exec) || (threads == 1 && !Kokkos::Tools::profileLibraryLoaded()))
      multiply(whole);
    else
      launch_unpacked(exec, memory, share_out(table, whole, multiply, threads));
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
    return tiles < backend::host::threads_for(exec) ||
           double(p.m) * double(p.n) * double(p.k) > 512.0 * 512.0 * 512.0;
  }
  /// As choose, for the tiles of a whole batch.
  template <class T, class CountTiles, class Launch>
  static void choose_batched(const Exec&, const gemm_problem<T>& p, const CountTiles&, const Launch& launch) {
    launch(collective<T>(kernels<T>(), block_of_batch(p)), p);
  }

  /// Calls `launch(collective, problem)` with the tile for this problem, or with the one that was asked for;
  /// more than once, for bands of columns, if packed B would take too much memory at once.
  template <class T, class Launch>
  static void choose(const Exec& exec, workspace<Exec>& workspace, const gemm_problem<T>& p,
                     const std::optional<tiling::shape>& requested, const Launch& launch) {
    const kernel_table<T>& table = kernels<T>();
    if (requested) return launch(collective<T>(table, *requested, {}), p);
    const index_t most_panels = index_t(most_packed_bytes / sizeof(T)) / table.nr / p.k;
    const index_t band = std::max<index_t>(most_panels, 1) * table.nr;
    for (index_t n0 = 0; n0 < p.n; n0 += band) {
      gemm_problem<T> part = p;
      part.b.data = p.b.at(n0, 0);
      part.c = p.c + n0 * p.c_col_stride;
      part.n = std::min(band, p.n - n0);
      const int threads = backend::host::threads_for(exec);
      thread_local choice_memory<block_key, block_choice> choices;
      const block_choice choice = choices.get({part.m, part.n, part.k, threads}, [&] {
        return choose_block(table, part.m, part.n, part.k, threads);
      });
      launch(choice.shares_b ? packing_b(exec, workspace, table, part, choice.block)
                             : collective<T>(table, choice.block),
             part);
    }
  }

 private:
  template <class T>
  [[gnu::noinline]] static void launch_unpacked(const Exec& exec, workspace<Exec>& memory,
                                                unpacked_blocks<T> kernel) {
    if (kernel.parts > 1) {
      const auto elements = std::size_t(kernel.problem.m) * kernel.problem.n;
      kernel.sums = memory.template reserve<T>(exec, kernel.parts * elements);
    }
    launch("keramos::gemm", [&] {
      backend::host::for_each_index<Kokkos::RangePolicy<Exec>>("keramos::gemm", exec, kernel.size(), kernel);
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

  /// The collective whose threads pack B for all of them before they multiply.
  template <class T>
  static collective<T> packing_b(const Exec& exec, workspace<Exec>& workspace, const kernel_table<T>& table,
                                 const gemm_problem<T>& p, const tiling::shape& block) {
    using packing = shared_packing<T>;
    const index_t panels = ceil_div(p.n, table.nr), elements = panels * table.nr * p.k;
    char* const memory =
        workspace.template reserve<char>(exec, sizeof(packing) + std::size_t(elements) * sizeof(T));
    T* const to = reinterpret_cast<T*>(memory + sizeof(packing));
    const int together = panels * ceil_div(p.k, block.k) >= 8 * backend::host::threads_for(exec) ? 4 : 1;
    const pack_kernel<T> kernel{table.pack_b, p.b, p.n, p.k, panels, table.nr, block.k, to, together};
    return {table, block, {to, panels * table.nr, block.k}, new (memory) packing(kernel)};
  }
};

}  // namespace keramos::detail::host

// How a host does a product: block tiles from backends/host/tiles.hpp, shared out over the threads, or no packing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <optional>
#include <string>
#include <type_traits>

#include <keramos/backends/host/caches.hpp>
#include <keramos/backends/host/model.hpp>
#include <keramos/backends/host/team.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/core/detail/launch.hpp>
#include <keramos/core/detail/workspace.hpp>
#include <keramos/gemm/collective/host_panels.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/kernel/host_unpacked.hpp>
#include <keramos/gemm/kernel/tiled.hpp>
#include <keramos/gemm/plan.hpp>
#include <keramos/gemm/plan/choice_memory.hpp>
#include <keramos/gemm/plan/host_model.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::host {

/// Whether there are up to `most` products m·n·k.
template <class Types>
bool volume_within(const gemm_problem<Types>& p, index_t most) {
  // In this order nothing overflows.
  return p.m <= most && p.n <= most && p.k <= most && p.m * p.n <= most && p.m * p.n * p.k <= most;
}

/// Whether the calling thread is done before it could wake others. This is asked first, and is cheap: of such a product
/// the choices take most of the time.
template <class Types>
bool is_tiny(const kernel_table<Types>& table, const gemm_problem<Types>& p) {
  using T = typename Types::accumulator;
  constexpr index_t elements =
      model::alone_elements * index_t(sizeof(T)) / index_t(sizeof(typename Types::a));
  return volume_within(p, model::alone_volume<T> * table.speed) && (p.m + p.n) * p.k <= elements;
}

/// Whether the steps along k of an A that no cache holds are far apart, and all of A is read more than once.
template <class Types>
bool a_is_far_apart(const gemm_problem<Types>& p, const kernel_table<Types>& table) {
  constexpr index_t bytes = sizeof(typename Types::a);
  return p.a.stride_k * bytes >= model::far_apart_bytes && p.n > table.nr &&
         p.m * p.k * bytes > index_t(backend::host::second_level_cache_bytes());
}

template <class Types>
bool unpacked_pays(const kernel_table<Types>& table, const gemm_problem<Types>& p, int threads) {
  if (p.c_col_stride != 1) return false;
  const bool a_along_k = p.a.stride_k == 1;
  const index_t second_level = index_t(backend::host::second_level_cache_bytes());
  const index_t cached =
      std::min(model::cached_bytes_of_b,
               second_level / (a_along_k ? model::times_of_cached_b : model::times_of_cached_b_along_m)) /
      (Types::is_complex && threads == 1 ? model::less_for_complex_alone : 1);
  const bool b_is_cached = p.n * p.k * index_t(sizeof(typename Types::b)) <= cached;
  const bool b_is_laid_out = p.b.stride_mn != 1;
  return p.k <= table.few_products || (b_is_cached && !a_is_far_apart(p, table)) ||
         p.m <= (b_is_laid_out && a_along_k ? model::few_rows_of_strided_b : model::few_rows);
}

/// Whether the kernel of dot products takes a problem: few columns, or few rows, of vectors that run through memory.
template <class Types>
bool dots_possible(const kernel_table<Types>& table, const gemm_problem<Types>& p) {
  return (p.n <= table.dots && p.a.stride_k == 1) || (p.m <= table.dots && p.b.stride_k == 1);
}

/// Whether it then does. To lay out columns of B whose rows run through memory takes longer than few rows of A gain by it.
template <class Types>
bool dots_pay(const kernel_table<Types>& table, const gemm_problem<Types>& p) {
  const bool lays_out_for_few = p.n > 1 && p.m <= model::few_rows_of_dots && p.b.stride_k != 1;
  return p.k >= model::least_dot_depth && dots_possible(table, p) && !lays_out_for_few;
}

template <class Types>
gemm_path choose_path(const kernel_table<Types>& table, const gemm_problem<Types>& p, bool tiny,
                      int threads) {
  if (!Types::uniform) return gemm_path::tiled;
  if (dots_pay(table, p)) return gemm_path::dots;
  return (tiny ? p.c_col_stride == 1 : unpacked_pays(table, p, threads)) ? gemm_path::unpacked
                                                                         : gemm_path::tiled;
}

/// What a problem takes by a kernel on so many threads, in products of vectors.
template <class Types>
double cost_of(const kernel_table<Types>& table, const gemm_problem<Types>& p, gemm_path path, int threads) {
  const bool packs = path == gemm_path::tiled;
  const model::way_costs& costs = packs ? model::packed_costs : model::unpacked_costs;
  if (packs && threads > 1)  // which pack for each other
    return choose_block(table, p.m, p.n, p.k, threads).cost * double(p.k) / table.lanes + costs.call;
  const auto cost = [&](index_t m, index_t n, index_t k) {
    const double vectors = packs ? double(ceil_div(m, table.mr) * table.mr) * double(ceil_div(n, table.lanes))
                                 : double(table.vectors_of_step(int(m), int(n), int(k)));
    const double of_a = p.a.stride_k == 1 ? costs.of_a : costs.of_a_along_m,
                 of_c = p.c_col_stride == 1 ? costs.of_c : costs.of_transposed_c;
    // Shorter vectors are multiplied the faster: a byte costs as many elements of them.
    return costs.vector * vectors * double(k) +
           double(model::bytes_of_costs_vectors) / table.lanes *
               (of_a * double(m) * double(k) + costs.of_b * double(n) * double(k) +
                of_c * double(m) * double(n));
  };
  if (packs) return cost(p.m, p.n, p.k) + costs.call;
  const block_shares shares = share_out(table.nr, p.m, p.n, p.k, threads);
  const tiling::shape& block = shares.block;  // may be larger than C
  const double adding =
      shares.parts == 1 ? 0 : model::adding_cost * shares.parts * double(p.m) * double(p.n) / table.lanes;
  return cost(std::min<index_t>(block.m, p.m), std::min<index_t>(block.n, p.n), block.k) + adding +
         costs.call;
}

/// Whether a narrow problem, for which `path` was chosen, is done faster without packing, and transposed for that.
struct unpacked_way {
  bool pays = false, transposed = false;
};
/// What that depends on.
struct unpacked_way_key {
  index_t m = 0, n = 0, k = 0;
  int threads = 0;
  gemm_path path = gemm_path::tiled;
  bool a_along_k = false, b_along_k = false, c_along_m = false;
  friend bool operator==(const unpacked_way_key&, const unpacked_way_key&) = default;
};
template <class Types>
unpacked_way choose_unpacked(const kernel_table<Types>& table, const gemm_problem<Types>& p, gemm_path path,
                             int threads) {
  if constexpr (Types::uniform && std::is_floating_point_v<typename Types::accumulator>) {
    if (path == gemm_path::dots || p.c_col_stride != 1 || std::min(p.m, p.n) > model::most_narrow) return {};
    const unpacked_way_key key{
        p.m, p.n, p.k, threads, path, p.a.stride_k == 1, p.b.stride_k == 1, p.c_row_stride == 1};
    thread_local choice_memory<unpacked_way_key, unpacked_way> choices;
    return choices.get(key, [&] {
      double least = model::gain_enough * cost_of(table, p, path, threads);
      unpacked_way best;
      const auto consider = [&](const gemm_problem<Types>& way, bool transposed) {
        const double cost = cost_of(table, way, gemm_path::unpacked, threads);
        if (cost < least) least = cost, best = {true, transposed};
      };
      // Of several blocks of B along k each adds to all of C, which then should stay in the cache. If transposed, C is written
      // in blocks.
      const bool c_stays =
          p.k <= model::rows_of_b_block_avx2 || p.m * p.n * index_t(sizeof(typename Types::c)) <=
                                                    index_t(backend::host::second_level_cache_bytes());
      if (path == gemm_path::tiled && c_stays) consider(p, false);
      if (p.k >= model::least_k_to_transpose) {
        gemm_problem<Types> transposed = p;
        transposed.transpose();
        consider(transposed, true);
      }
      return best;
    });
  }
  return {};
}

template <class Exec>
struct planner {
  /// Vectors run along the rows of C, so C should be row-major.
  template <class Types>
  static bool prefers_transposed(const Exec&, const gemm_problem<Types>& p) {
    return Types::transposable && p.c_col_stride != 1 && p.c_row_stride == 1;
  }

  /// Does a tiny problem at once, on the calling thread and without a plan; returns false if it is not tiny. Kokkos' host
  /// kernels are done when the launch returns, and so is this. But a tool of Kokkos that listens should see every
  /// kernel, so then this returns false too. (Elements of other types than that of the sums are always packed.)
  template <class Types, class Epilogue>
  static bool run_tiny(const Exec& exec, const gemm_problem<Types>& p,
                       const Epilogue& epilogue) requires(Types::uniform) {
    const kernel_table<Types>& table = kernels<Types>();
    if (!is_tiny(table, p)) return false;
    if (prefers_transposed(exec, p)) {
      gemm_problem<Types> transposed = p;
      transposed.transpose();
      return run_tiny(exec, transposed, epilogue);
    }
    const gemm_path path = choose_path(table, p, true, 1);
    if (path == gemm_path::tiled) return false;
    const auto seen_by_tool = [&] {
      return !backend::host::runs_in_caller(exec) && Kokkos::Tools::profileLibraryLoaded();
    };
    if constexpr (is_linear<Epilogue>) {
      using T = typename Types::accumulator;
      // Up to this k no kernel divides a tiny problem along it.
      if (p.k > model::rows_of_b_block && !is_finite(T(epilogue.alpha))) return false;
      // Filled before the check for tools: the kernel loads it in wide vectors, which stall behind recent narrow stores.
      const auto whole = unpacked_problem_of(p, T(epilogue.alpha), T(epilogue.beta));
      if (seen_by_tool()) return false;
      function_of(table, path)(whole);
    } else {
      if (seen_by_tool()) return false;
      multiply_unpacked(function_of(table, path), p, epilogue);
    }
    return true;
  }

  /// Adds to a plan how a problem with m, n, k > 0 is done: in one part.
  template <class Types>
  static void choose(const Exec& exec, const gemm_problem<Types>& p,
                     const std::optional<tiling::shape>& requested, epilogue_of_product, gemm_plan& plan) {
    gemm_part& part = plan.parts[plan.size++];
    part.m = p.m, part.n = p.n;
    gemm_problem<Types> mine = p;
    if (prefers_transposed(exec, p)) mine.transpose();
    choose_part(exec, mine, requested, part);
    part.transposed = mine.place.transposed != p.place.transposed;
  }

  /// The block tile of a problem that is packed.
  template <class Types>
  static void choose_tiles(const Exec& exec, const gemm_problem<Types>& p,
                           const std::optional<tiling::shape>& requested, epilogue_of_product,
                           gemm_part& part) {
    const kernel_table<Types>& table = kernels<Types>();
    part.path = gemm_path::tiled;
    part.band_m = p.m, part.band_n = p.n;
    if (requested) {
      part.block = *requested;
    } else {
      const index_t most_panels = index_t(model::most_packed_bytes / sizeof(typename Types::accumulator)) /
                                  table.nr / table.packed(p.k);
      part.band_n = std::min(p.n, std::max<index_t>(most_panels, 1) * table.nr);
      const int threads = is_tiny(table, p) ? 1 : backend::host::threads_for(exec);
      thread_local choice_memory<block_key, block_choice> choices;
      const block_choice choice = choices.get({p.m, part.band_n, p.k, threads}, [&] {
        return choose_block(table, p.m, part.band_n, p.k, threads);
      });
      part.block = choice.block, part.pack_b = choice.shares_b;
    }
    set_team<Types>(part, part.pack_b);
  }

  /// Sets a tile's team, which is one thread, and the local memory that it asks for.
  template <class Types>
  static void set_team(gemm_tile& tile, bool shares_b) {
    tile.team_size = 1;
    tile.local_bytes = collective<Types>(kernels<Types>(), tile.block).local_bytes(shares_b);
  }

  /// Throws if a part that a caller gave cannot be done with these strides.
  template <class Types>
  static void check(const Exec&, const gemm_problem<Types>& p, const gemm_part& part, int number,
                    epilogue_of_product) {
    const kernel_table<Types>& table = kernels<Types>();
    if (part.path == gemm_path::vector || part.path == gemm_path::residues)
      refuse_plan(number, "is for a kernel of GPUs");
    if (part.pack_a) refuse_plan(number, "packs A beforehand, which hosts do tile by tile");
    if (part.path == gemm_path::tiled) {
      if (part.split.parts > 1) refuse_plan(number, "divides k, which tiles of hosts do not");
      if (part.corner_n > 0) refuse_plan(number, "leaves out a corner, which tiles of hosts do not");
      if (part.pack_b && part.block.n % table.nr != 0)
        refuse_plan(number, "packs B beforehand, in panels of " + std::to_string(table.nr) +
                                " columns, of which its block tile of " + to_string(part.block) +
                                " is no multiple");
      if (part.band_n < 1) refuse_plan(number, "has bands of " + std::to_string(part.band_n) + " columns");
      return;
    }
    if (!Types::uniform)
      refuse_plan(number, "multiplies elements where they lie, which must be of one type then");
    const double blocks =
        double(ceil_div(p.m, part.block.m)) * double(ceil_div(p.n, part.block.n)) * part.split.parts;
    if (blocks > double(std::numeric_limits<int>::max()))
      refuse_plan(number, "has more than 2^31 - 1 blocks and parts of k");
    if (!within_int(p)) refuse_plan(number, "is not packed but has 2^31 - 65536 or more rows, columns or k");
    if (part.split.parts > 1 && part.split.k_per_part != part.block.k)
      refuse_plan(number, "has blocks that do not divide k as its split does");
    if (part.path == gemm_path::dots && !dots_possible(table, p))
      refuse_plan(number, "is for dot products of at most " + std::to_string(table.dots) +
                              " columns whose vectors run through memory");
  }

  /// Does one part; `p` is its problem, transposed if the part is.
  template <class Types, class Epilogue>
  static void run(const Exec& exec, workspace<Exec>& memory, const gemm_problem<Types>& p,
                  const gemm_part& part, const Epilogue& epilogue) {
    const kernel_table<Types>& table = kernels<Types>();
    if constexpr (Types::uniform) {
      if (part.path != gemm_path::tiled) {
        using T = typename Types::accumulator;
        const int parts = part.split.parts;
        T* const sums =
            parts > 1 ? memory.template reserve<T>(exec, std::size_t(parts) * p.m * p.n) : nullptr;
        const unpacked_blocks<Types, Epilogue> kernel{
            p, epilogue, function_of(table, part.path), {part.block, parts}, sums};
        // One block is done by the calling thread, unless a tool of Kokkos should see it.
        if (kernel.size() == 1 &&
            (backend::host::runs_in_caller(exec) || !Kokkos::Tools::profileLibraryLoaded()))
          return kernel(0);
        launch("keramos::gemm", [&] {
          backend::host::for_each_index<Kokkos::RangePolicy<Exec>>("keramos::gemm", exec, kernel.size(),
                                                                   kernel);
        });
        if (parts > 1) kernel.add_up();
        return;
      }
    }
    const index_t band_n = std::min(part.band_n, p.n);
    for (index_t n0 = 0; n0 < p.n; n0 += band_n) {
      const gemm_problem<Types> band = p.part(0, n0, p.m, std::min(band_n, p.n - n0));
      launch_tiled(exec,
                   part.pack_b ? packing_b(exec, memory, table, band, part.block)
                               : collective<Types>(table, part.block),
                   band, {{}, band.k, order_of(band, part.block, 1).count()}, epilogue);
    }
  }

 private:
  /// Transposes p if that is faster.
  template <class Types>
  static void choose_part(const Exec& exec, gemm_problem<Types>& p,
                          const std::optional<tiling::shape>& requested, gemm_part& part) {
    const kernel_table<Types>& table = kernels<Types>();
    const bool tiny = is_tiny(table, p);
    const int threads = tiny ? 1 : backend::host::threads_for(exec);
    if (!requested && (tiny || within_int(p))) {
      part.path = choose_path(table, p, tiny, threads);
      if (!tiny) {
        const unpacked_way other = choose_unpacked(table, p, part.path, threads);
        if (other.pays) part.path = gemm_path::unpacked;
        if (other.transposed) p.transpose();
      }
    }
    if (part.path == gemm_path::tiled)
      return choose_tiles(exec, p, requested, epilogue_of_product::library, part);
    const block_shares shares = share_out(table.nr, p.m, p.n, p.k, threads);
    part.block = shares.block;
    if (shares.parts > 1) part.split = {shares.parts, shares.parts, shares.block.k};
  }

  /// Kernels without packing count in ints, to the end of a block of at most 2^14 columns.
  template <class Types>
  static bool within_int(const gemm_problem<Types>& p) {
    constexpr index_t most = std::numeric_limits<int>::max() - 65536;
    return p.m <= most && p.n <= most && p.k <= most;
  }
  template <class Types>
  static unpacked_function<typename Types::accumulator>* function_of(const kernel_table<Types>& table,
                                                                     gemm_path path) {
    return path == gemm_path::dots ? table.multiply_dots : table.multiply_unpacked;
  }

  /// The collective whose threads pack B for all of them before they multiply.
  template <class Types>
  static collective<Types> packing_b(const Exec& exec, workspace<Exec>& memory,
                                     const kernel_table<Types>& table, const gemm_problem<Types>& p,
                                     const tiling::shape& block) {
    using T = typename Types::accumulator;
    using packing = shared_packing<Types>;
    const index_t panels = ceil_div(p.n, table.nr), rows = panels * table.nr,
                  k_tiles = ceil_div(p.k, block.k);
    char* const start = memory.template reserve<char>(
        exec, sizeof(packing) + std::size_t(rows) * k_tiles * table.packed(block.k) * sizeof(T));
    T* const to = reinterpret_cast<T*>(start + sizeof(packing));
    const bool many = panels * k_tiles >= model::panels_of_thread * backend::host::threads_for(exec);
    const pack_panels_kernel<Types> kernel{&table, p.b,     p.n, p.k,
                                           panels, block.k, to,  many ? model::panels_together : 1};
    return {table, block, {to, rows, int(table.packed(block.k))}, new (start) packing(kernel)};
  }
};

}  // namespace keramos::detail::host

// How a product is shared out to the threads of a host: block tiles of those that are packed, blocks of C and parts
// of k of those that are multiplied in place. Counts of work decide, with the figures of
// backends/host/model.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <keramos/backends/host/model.hpp>
#include <keramos/base/index.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/kernel/host_unpacked.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::host {

namespace model = backend::host::model;

/// A block tile, whether B is packed for all tiles at once or by each for itself, and what a step of k costs, in products.
struct block_choice {
  tiling::shape block;
  bool shares_b;
  double cost;
};

/// The block tile that finishes first by a count of work: a tile costs its products and the packing of its
/// operands, and threads without a tile wait. Alone, a thread packs B for all tiles if there is more than one row
/// of them.
template <class Types>
block_choice choose_block(const kernel_table<Types>& kernels, index_t m, index_t n, index_t whole_k,
                          int threads) {
  const index_t panels_m = ceil_div(m, kernels.mr), panels_n = ceil_div(n, kernels.nr);
  const index_t k_tiles = kernels.k_tiles(whole_k);
  // Of k: register tiles do 8 steps at a time (vector_tile::chunk), what is left one by one.
  const int multiple = std::max(8, kernels.depth());
  const int k = int(std::min<index_t>(ceil_div(ceil_div(whole_k, k_tiles), multiple) * multiple, whole_k));
  const bool alone = threads == 1;
  // What costs are in the model, in products of these kernels.
  const double scale =
      std::max(1.0, double(kernels.speed) * sizeof(typename Types::b) / sizeof(typename Types::accumulator));
  block_choice best{};
  const auto consider = [&](index_t rows, bool shares_b) {
    const double sharing =
        shares_b ? scale * (model::shared_pack_cost + model::shared_pack_cost_a_thread * threads) *
                       double(n) / threads
                 : 0;
    const double pack_cost = scale * model::pack_cost,
                 cost_of_b = shares_b ? scale * model::shared_read_cost : pack_cost;
    const index_t most_cols =
        shares_b && !kernels.keeps_nc
            ? index_t(model::most_sum_bytes(threads) / sizeof(typename Types::accumulator)) / rows
            : kernels.nc;
    const index_t least_tiles_n = ceil_div(panels_n, std::max<index_t>(most_cols / kernels.nr, 1));
    // Not measured: bounds of the search. Two tiles a thread more than needed let no thread wait for long; others only pack more.
    const index_t most_tiles_n = alone ? least_tiles_n : std::min(panels_n, least_tiles_n + 2 * threads);
    index_t cols = 0;
    for (index_t tiles_n = least_tiles_n; tiles_n <= most_tiles_n; ++tiles_n) {
      const index_t before = std::exchange(cols, ceil_div(panels_n, tiles_n) * kernels.nr);
      if (cols == before) continue;
      const index_t across = ceil_div(n, cols), down = ceil_div(m, rows), tiles = down * across;
      const double all = double(m) * n + pack_cost * m * across + cost_of_b * n * down;
      const double tile = double(rows) * cols + pack_cost * rows + cost_of_b * cols;
      const double cost =
          sharing + std::max(double(ceil_div(tiles, threads)) / tiles * all,
                             (all + model::tiles_waited_for * (threads - 1) * tile) / threads);
      if (best.cost == 0 || cost < best.cost) best = {{int(rows), int(cols), k}, shares_b, cost};
    }
  };
  // Where k-tiles have more columns than the table's, fewer rows of A fill the cache.
  const index_t most_panels_m = std::max<index_t>(kernels.mc / kernels.mr * std::min(kernels.kc, k) / k, 1);
  const index_t least_tiles_m = ceil_div(panels_m, most_panels_m);
  // As for n; twice as many, since with a shared B more rows of tiles pack nothing more.
  const index_t most_tiles_m = alone ? least_tiles_m : std::min(panels_m, least_tiles_m + 4 * threads);
  index_t rows = 0;
  for (index_t tiles_m = least_tiles_m; tiles_m <= most_tiles_m; ++tiles_m) {
    const index_t before = std::exchange(rows, ceil_div(panels_m, tiles_m) * kernels.mr);
    if (rows == before) continue;
    if (!alone || tiles_m == 1) consider(rows, false);
    if (!alone || tiles_m > 1) consider(rows, true);
  }
  return best;
}

/// What that choice depends on.
struct block_key {
  index_t m = 0, n = 0, k = 0;
  int threads = 0;
  friend bool operator==(const block_key&, const block_key&) = default;
};

/// As many blocks as threads, or fewer: those that read the least of A and B, if equally large. Blocks that divide
/// k read less, but one thread then adds up. `nr`: columns of the register tile.
inline block_shares share_out(int nr, index_t m, index_t n, index_t k, int threads) {
  block_shares best{{int(m), int(n), int(k)}, 1};
  if (threads == 1) return best;
  double best_cost = 0;
  for (int parts = 1; parts <= threads && (parts == 1 || k / parts >= model::least_depth); parts *= 2) {
    const int depth = int(ceil_div(k, parts)), blocks = threads / parts;
    const double adding = parts == 1 ? 0 : model::adding_cost * parts * double(m) * n;
    for (int blocks_m = 1; blocks_m <= blocks; ++blocks_m) {
      const int rows = int(ceil_div(m, blocks_m));
      const int cols = int(ceil_div(ceil_div(n, blocks / blocks_m), nr) * nr);
      const double cost = (double(rows) * cols + model::read_cost * (double(rows) + cols)) * depth + adding;
      if (best_cost != 0 && cost >= best_cost) continue;
      best_cost = cost;
      best = {{rows, cols, depth}, int(ceil_div(k, depth))};
    }
  }
  return best;
}

}  // namespace keramos::detail::host

// The machine that a host GEMM runs on: block tiles from tuning_table.hpp, shared out over the threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include <keramos/backends/host/copy.hpp>
#include <keramos/backends/host/kernels.hpp>
#include <keramos/backends/host/mma.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::backend::host {

template <class Exec, class T>
class machine {
  using stager = typename backend::copy<Exec>::template stager<T>;
  using accumulator_type = typename backend::mma<Exec>::template accumulator<T>;

 public:
  static constexpr int stages = 1;
  static constexpr int team_size = 1;
  static constexpr int teams_per_unit = 1;

  machine(const kernel_table<T>& kernels, const tile::shape& block) : kernels_(&kernels), block_(block) {}

  tile::shape block() const { return block_; }
  /// Bytes of scratch: a slab of A, one of B, and the accumulators.
  std::size_t local_bytes() const {
    return a_bytes() + b_bytes() + sizeof(T) * rows() * cols() + 3 * alignment;
  }

  template <class Team>
  auto operands(const Team& team, const gemm_problem<T>& p, const tile::position& at) const {
    T* a_local = local(team, a_bytes());
    T* b_local = local(team, b_bytes());
    return stager(*kernels_, p, at, block_.k, a_local, b_local);
  }
  template <class Team>
  auto accumulator(const Team& team, const tile::position&) const {
    return accumulator_type(*kernels_, local(team, sizeof(T) * rows() * cols()));
  }

 private:
  static constexpr std::size_t alignment = 128;

  std::size_t rows() const { return (block_.m + kernels_->mr - 1) / kernels_->mr * kernels_->mr; }
  std::size_t cols() const { return (block_.n + kernels_->nr - 1) / kernels_->nr * kernels_->nr; }
  std::size_t a_bytes() const { return sizeof(T) * rows() * block_.k; }
  std::size_t b_bytes() const { return sizeof(T) * cols() * block_.k; }

  template <class Team>
  T* local(const Team& team, std::size_t bytes) const {
    const int level = backend::traits<Exec>::scratch_level(local_bytes());
    return static_cast<T*>(team.team_scratch(level).get_shmem_aligned(bytes, alignment));
  }

  const kernel_table<T>* kernels_;
  tile::shape block_;
};

/// The block tile that finishes first by a count of the busiest thread's work: a tile costs its
/// products and the packing of its operands, and threads without a tile wait.
template <class T>
tile::shape choose_block(const kernel_table<T>& kernels, const gemm_problem<T>& p, int threads) {
  const auto up = [](index_t value, index_t unit) { return (value + unit - 1) / unit * unit; };
  const index_t m = std::min<index_t>(kernels.mc, up(p.m, kernels.mr));
  const index_t n = std::min<index_t>(kernels.nc, up(p.n, kernels.nr));
  const int k = int(std::min<index_t>(kernels.kc, p.k));
  // To pack an element takes about as long as 40 products in double, 80 in float.
  const double pack = 320.0 / sizeof(T);
  tile::shape best{int(m), int(n), k};
  double best_cost = 0;
  for (index_t rows = m; rows > 0; rows -= kernels.mr) {
    for (index_t cols = n; cols > 0; cols -= kernels.nr) {
      const index_t tiles = ((p.m + rows - 1) / rows) * ((p.n + cols - 1) / cols);
      const double cost = double((tiles + threads - 1) / threads) *
                          (double(rows) * double(cols) + pack * double(rows + cols));
      if (best_cost == 0 || cost < best_cost) best_cost = cost, best = {int(rows), int(cols), k};
      if (threads == 1) break;
    }
    if (threads == 1) break;
  }
  return best;
}

/// Products m·n·k up to which a problem counts as small, on one thread and on several.
inline constexpr index_t small_volume = 64 * 64 * 64;
inline constexpr index_t small_volume_of_threads = 48 * 48 * 48;

template <class Exec>
struct tuning {
  /// Vectors run along the rows of C, so C should be row-major.
  template <class T>
  static bool prefers_transposed(const gemm_problem<T>& p) {
    return p.c_col_stride != 1 && p.c_row_stride == 1;
  }

  /// Multiplies a small problem at once, on the calling thread: Kokkos' host kernels are done when the
  /// launch returns, and so is this, without the launch. False if the problem is not small.
  template <class T>
  static bool run_small(const Exec& exec, const gemm_problem<T>& p, const linear_epilogue<T>& epilogue) {
    // Up to here one thread without packing is faster than packing, and than waking other threads.
    const index_t most = exec.concurrency() == 1 ? small_volume : small_volume_of_threads;
    if (p.m > most || p.n > most || p.k > most || p.m * p.n > most || p.m * p.n * p.k > most) return false;
    const bool rows_run = p.b.stride_mn == 1;
    if (!rows_run && p.n * p.k > small_problem<T>::most_elements_of_b) return false;
    kernels<T>().multiply_small({int(p.m), int(p.n), int(p.k), p.a.data, p.a.stride_mn, p.a.stride_k,
                                 p.b.data, p.b.stride_k, p.b.stride_mn, p.c, p.c_row_stride, p.c_col_stride,
                                 epilogue.alpha, epilogue.beta});
    return true;
  }

  /// Calls `launch(machine)` with the tile for this problem, or with the one that was asked for.
  template <class T, class Launch>
  static void choose(const Exec& exec, const gemm_problem<T>& p, const std::optional<tile::shape>& requested,
                     const Launch& launch) {
    const kernel_table<T>& table = kernels<T>();
    launch(machine<Exec, T>(table, requested ? *requested : choose_block(table, p, int(exec.concurrency()))));
  }
};

}  // namespace keramos::backend::host

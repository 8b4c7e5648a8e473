// The collective of hosts: a k-tile of A is packed, and one of B unless it is packed for all tiles already, as numbers of
// the accumulators' type; the compiled micro-kernels multiply them. Sums that more k-tiles follow are kept in the team's
// scratch; they are read and written once a k-tile, that is once in 2·kc operations an element. The last k-tile writes C.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/core/local_memory.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::host {

/// All of B (n x k) in panels, k-tile after k-tile, in packed numbers.
template <class T>
struct packed_operand {
  const T* data = nullptr;  // (k-tiles, panels, numbers along k, width)
  index_t rows = 0;         ///< n rounded up to whole panels
  int numbers = 0;          ///< along k in every k-tile but the last

  /// From row n on in a k-tile of so many numbers along k.
  KERAMOS_FORCEINLINE_FUNCTION const T* at(index_t n, index_t k_tile, int numbers_here) const {
    return data + k_tile * rows * numbers + n * numbers_here;
  }
};

/// Packs `together` of the `panels` of one k-tile of B per index.
template <class Types>
struct pack_panels_kernel {
  using T = typename Types::accumulator;

  const kernel_table<Types>* kernels;
  tiling::operand<typename Types::b> from;
  index_t n, k, panels;
  int kc;
  T* to;
  int together;  ///< more for longer walks through memory, fewer for more threads

  index_t groups() const { return ceil_div(panels, together); }
  index_t size() const { return groups() * ceil_div(k, kc); }
  void operator()(index_t at) const {
    const int cols_of_group = together * kernels->nr;
    const index_t k_tile = at / groups(), k0 = k_tile * kc, n0 = at % groups() * cols_of_group;
    const int k_here = int(k - k0 < kc ? k - k0 : kc);
    const int cols = int(n - n0 < cols_of_group ? n - n0 : cols_of_group);
    kernels->pack_b(to + k_tile * panels * kernels->nr * kernels->packed(kc) + n0 * kernels->packed(k_here),
                    from.at(n0, k0), from.stride_mn, from.stride_k, cols, k_here, from.kind());
  }
};

/// Packing that the threads of one kernel share, instead of a kernel of its own to wake them for. Each thread that arrives takes
/// parts until none is left, and waits for those that others still have in hand: never for a thread that has yet to come,
/// so nothing depends on how many there are.
template <class Types>
class shared_packing {
 public:
  explicit shared_packing(const pack_panels_kernel<Types>& kernel) : kernel_(kernel) {}

  /// Everything is packed when it returns. Through a pointer, like the compiled kernels: nvcc takes what tiles call for
  /// the device's as well.
  KERAMOS_FORCEINLINE_FUNCTION void finish() { help_(*this); }

 private:
  static void help(shared_packing& self) {
    const index_t parts = self.kernel_.size();
    if (self.done_.load(std::memory_order_acquire) == parts) return;
    for (index_t i; (i = self.taken_.fetch_add(1, std::memory_order_relaxed)) < parts;) {
      self.kernel_(i);
      self.done_.fetch_add(1, std::memory_order_release);
    }
    for (int turns = 0; self.done_.load(std::memory_order_acquire) < parts; ++turns)
      if (turns > turns_before_yielding) std::this_thread::yield();
  }

  /// About a microsecond, for parts that others have all but done: yielding costs a call of the system. Not measured.
  static constexpr int turns_before_yielding = 1000;

  void (*const help_)(shared_packing&) = help;
  const pack_panels_kernel<Types> kernel_;
  alignas(64) std::atomic<index_t> taken_ = 0;
  alignas(64) std::atomic<index_t> done_ = 0;
};

/// Packed panels: one team of one thread owns a block tile.
template <class Types>
class collective {
  using T = typename Types::accumulator;

 public:
  using types = Types;
  static constexpr int team_size = 1;
  static constexpr int teams_per_unit = 1;
  static constexpr bool splits_k = false, persistent = false;

  collective(const kernel_table<Types>& kernels, const tiling::shape& block,
             const packed_operand<T>& packed_b = {}, shared_packing<Types>* packing = nullptr)
      : kernels_(&kernels), block_(block), packed_b_(packed_b), packing_(packing) {}

  KERAMOS_FORCEINLINE_FUNCTION tiling::shape block() const { return block_; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return x; }
  /// Micro-tiles are cut to fit where a tile ends early.
  static bool can_shift_m(const gemm_problem<Types>&) { return false; }
  static bool can_shift_n(const gemm_problem<Types>&) { return false; }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t local_bytes() const { return local_bytes(packed_b_.data); }
  /// A k-tile of A, one of B unless it is packed for all tiles, and the sums.
  KERAMOS_FORCEINLINE_FUNCTION std::size_t local_bytes(bool b_is_packed) const {
    return a_bytes() + (b_is_packed ? 0 : b_bytes()) + sum_bytes() + 3 * local_alignment;
  }

  /// With the last k-tile the micro-kernel applies BLAS' update itself; for other epilogues it hands over the sums of each
  /// micro tile, while they are in the first-level cache.
  template <class Team, class Tile, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void run(const Team& team, const gemm_problem<Types>& p, const Tile& tile,
                                        const Epilogue& epilogue) const {
    constexpr bool updates = is_linear<Epilogue> && std::is_same_v<typename Types::c, T>;
    const tiling::position at = tile.position();
    if (packing_) packing_->finish();
    T* const a_local = local(team, a_bytes());
    T* const b_local = packed_b_.data ? nullptr : local(team, b_bytes());
    block_product<T> block{};
    block.sums = local(team, sum_bytes());
    block.rows = at.rows, block.cols = at.cols;
    block.first = true;
    block.conjugate_a = p.a.conjugated, block.conjugate_b = p.b.conjugated;
    block.kind_a = p.a.kind(), block.kind_b = p.b.kind();
    if constexpr (std::is_same_v<typename Types::c, T>) {
      block.c = p.c + at.m0 * p.c_row_stride + at.n0 * p.c_col_stride;
      block.c_row_stride = p.c_row_stride, block.c_col_stride = p.c_col_stride;
    }
    if constexpr (updates) block.alpha = T(epilogue.alpha), block.beta = T(epilogue.beta);
    const tile_writer<Epilogue> writer{p, at, epilogue, kernels_->nr};
    if constexpr (!updates) {
      block.write =
          backend::host::versions<tile_writer<Epilogue>, const void*, const T*, int, int, int, int>::run;
      block.writer = &writer;
    }
    index_t k_tile = 0;
    for (index_t k0 = at.k0; k0 < at.k1; k0 += block_.k, ++k_tile) {
      const int k_here = int(at.k1 - k0 < block_.k ? at.k1 - k0 : block_.k);
      block.k = int(kernels_->packed(k_here));
      kernels_->pack_a(a_local, p.a.at(at.m0, k0), p.a.stride_mn, p.a.stride_k, at.rows, k_here, p.a.kind());
      if (b_local)
        kernels_->pack_b(b_local, p.b.at(at.n0, k0), p.b.stride_mn, p.b.stride_k, at.cols, k_here,
                         p.b.kind());
      block.a = a_local;
      block.b = b_local ? b_local : packed_b_.at(at.n0, k_tile, block.k);
      block.last = k0 + k_here == at.k1;
      kernels_->multiply(block);
      block.first = false;
    }
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static std::size_t up(int value, int multiple) {
    return std::size_t(value + multiple - 1) / multiple * multiple;
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t a_bytes() const {
    return sizeof(T) * up(block_.m, kernels_->mr) * kernels_->packed(block_.k);
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t b_bytes() const {
    return sizeof(T) * up(block_.n, kernels_->nr) * kernels_->packed(block_.k);
  }
  KERAMOS_FORCEINLINE_FUNCTION std::size_t sum_bytes() const {
    return sizeof(T) * up(block_.m, kernels_->mr) * up(block_.n, kernels_->nr);
  }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION T* local(const Team& team, std::size_t bytes) const {
    return static_cast<T*>(team.team_scratch(0).get_shmem_aligned(bytes, local_alignment));
  }

  /// C from the sums of a micro tile: block_product's writer.
  template <class Epilogue>
  struct tile_writer {
    const gemm_problem<Types>& p;
    const tiling::position& at;
    const Epilogue& epilogue;
    int nr;

    KERAMOS_FORCEINLINE_FUNCTION static void run(const void* writer, const T* sums, int row, int col,
                                                 int rows, int cols) {
      const tile_writer& w = *static_cast<const tile_writer*>(writer);
      for (int i = 0; i < rows; ++i)
        write_row(w.epilogue, w.p, sums + i * w.nr, w.at.m0 + row + i, w.at.n0 + col, cols);
    }
  };

  const kernel_table<Types>* kernels_;
  tiling::shape block_;
  packed_operand<T> packed_b_;
  shared_packing<Types>* packing_;
};

}  // namespace keramos::detail::host

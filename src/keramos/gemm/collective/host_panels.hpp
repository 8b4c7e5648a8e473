// The collective of hosts: a k-tile of A is packed, and one of B unless it is packed for all tiles already; the compiled
// micro-kernels multiply them. Sums that more k-tiles follow are kept in the team's scratch; they are read and written once
// a k-tile, that is once in 2·kc operations an element. The last k-tile writes C.
#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <type_traits>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/host/kernel_table.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::host {

/// All of B (n x k) in panels, k-tile after k-tile.
template <class T>
struct packed_operand {
  const T* data = nullptr;  // (k-tiles, panels, columns of the k-tile, width)
  index_t rows = 0;         ///< n rounded up to whole panels
  int kc = 0;

  KERAMOS_FORCEINLINE_FUNCTION const T* at(index_t n, index_t k, int k_of_tile) const {
    return data + k * rows + n * k_of_tile;
  }
};

/// Packs `together` of the `panels` of one k-tile per index.
template <class T>
struct pack_kernel {
  typename kernel_table<T>::pack_function* pack;
  tiling::operand<T> from;
  index_t n, k, panels;
  int width, kc;
  T* to;
  int together;  ///< more for longer walks through memory, fewer for more threads

  index_t groups() const { return (panels + together - 1) / together; }
  index_t size() const { return groups() * ((k + kc - 1) / kc); }
  void operator()(index_t at) const {
    const index_t k0 = at / groups() * kc, n0 = at % groups() * together * width;
    const int k_of_tile = int(k - k0 < kc ? k - k0 : kc);
    const int cols = int(n - n0 < together * width ? n - n0 : together * width);
    pack(to + k0 * panels * width + n0 * k_of_tile, from.at(n0, k0), from.stride_mn, from.stride_k, cols,
         k_of_tile);
  }
};

/// Packing that the threads of one kernel share, instead of a kernel of its own to wake them for. Each thread that arrives takes
/// parts until none is left, and waits for those that others still have in hand: never for a thread that has yet to come,
/// so nothing depends on how many there are.
template <class T>
class shared_packing {
 public:
  explicit shared_packing(const pack_kernel<T>& kernel) : kernel_(kernel) {}

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
      if (turns > 1000) std::this_thread::yield();
  }

  void (*const help_)(shared_packing&) = help;
  const pack_kernel<T> kernel_;
  alignas(64) std::atomic<index_t> taken_ = 0;
  alignas(64) std::atomic<index_t> done_ = 0;
};

/// The operands of one block tile in turn; one team of one thread owns it.
template <class T>
class stager {
 public:
  struct packed_k_tile {
    const T* a;  // local, (panels, k, mr)
    const T* b;  // local or global, (panels, k, nr)
    int k;
  };

  KERAMOS_FORCEINLINE_FUNCTION stager(const kernel_table<T>& kernels, const gemm_problem<T>& p,
                                      const tiling::position& at, int kc, const packed_operand<T>& packed_b,
                                      T* a_local, T* b_local)
      : kernels_(kernels),
        p_(p),
        at_(at),
        kc_(kc),
        packed_b_(packed_b),
        a_local_(a_local),
        b_local_(b_local) {}

  template <bool Whole>
  KERAMOS_FORCEINLINE_FUNCTION void stage(int k_tile, int /*slot*/) {
    const index_t k0 = at_.k0 + index_t(k_tile) * kc_;
    const int k = int(at_.k1 - k0 < kc_ ? at_.k1 - k0 : kc_);
    kernels_.pack_a(a_local_, p_.a.at(at_.m0, k0), p_.a.stride_mn, p_.a.stride_k, at_.rows, k);
    if (!packed_b_.data)
      kernels_.pack_b(b_local_, p_.b.at(at_.n0, k0), p_.b.stride_mn, p_.b.stride_k, at_.cols, k);
    staged_ = {a_local_, packed_b_.data ? packed_b_.at(at_.n0, k0, k) : b_local_, k};
  }
  KERAMOS_FORCEINLINE_FUNCTION void commit() {}
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION void wait() {}

  KERAMOS_FORCEINLINE_FUNCTION int whole_k_tiles() const { return 0; }  // packing looks at bounds in any case
  KERAMOS_FORCEINLINE_FUNCTION packed_k_tile panels(int /*slot*/) const { return staged_; }

 private:
  const kernel_table<T>& kernels_;
  const gemm_problem<T>& p_;
  const tiling::position& at_;
  int kc_;
  packed_operand<T> packed_b_;
  T* a_local_;
  T* b_local_;
  packed_k_tile staged_{};
};

template <class T, class Epilogue>
class accumulator {
  /// The micro-kernel applies BLAS' update itself; other epilogues read the sums.
  static constexpr bool fused = is_linear<Epilogue>;

 public:
  KERAMOS_FORCEINLINE_FUNCTION accumulator(const kernel_table<T>& kernels, const gemm_problem<T>& p,
                                           const tiling::position& at, const Epilogue& epilogue, T* sums)
      : kernels_(kernels), k_left_(at.k1 - at.k0) {
    block_ = {sums,
              nullptr,
              nullptr,
              at.rows,
              at.cols,
              0,
              true,
              false,
              p.c + at.m0 * p.c_row_stride + at.n0 * p.c_col_stride,
              p.c_row_stride,
              p.c_col_stride,
              T(1),
              T(0)};
    if constexpr (fused) block_.alpha = T(epilogue.alpha), block_.beta = T(epilogue.beta);
  }

  KERAMOS_FORCEINLINE_FUNCTION void start(const typename stager<T>::packed_k_tile&) {}
  template <class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const typename stager<T>::packed_k_tile& staged,
                                             const Next& next) {
    block_.a = staged.a, block_.b = staged.b, block_.k = staged.k;
    k_left_ -= staged.k;
    block_.last = fused && k_left_ == 0;
    kernels_.multiply(block_);
    block_.first = false;
    next();
  }

  KERAMOS_FORCEINLINE_FUNCTION void write([[maybe_unused]] const gemm_problem<T>& p,
                                          [[maybe_unused]] const tiling::position& at,
                                          [[maybe_unused]] const Epilogue& epilogue) const {
    if constexpr (!fused) {
      const int mr = kernels_.mr, nr = kernels_.nr, panels_m = (at.rows + mr - 1) / mr;
      for (int i = 0; i < at.rows; ++i)
        for (int j = 0; j < at.cols; j += nr) {
          const T* const sums = block_.sums + ((index_t(j / nr) * panels_m + i / mr) * mr + i % mr) * nr;
          write_row(epilogue, p, sums, at.m0 + i, at.n0 + j, at.cols - j < nr ? at.cols - j : nr);
        }
    }
  }

 private:
  const kernel_table<T>& kernels_;
  index_t k_left_;
  block_product<T> block_;
};

/// Packed panels: one team of one thread owns a block tile.
template <class T>
class collective {
 public:
  static constexpr int stages = 1;
  static constexpr int team_size = 1;
  static constexpr int teams_per_unit = 1;
  static constexpr bool splits_k = false;

  collective(const kernel_table<T>& kernels, const tiling::shape& block,
             const packed_operand<T>& packed_b = {}, shared_packing<T>* packing = nullptr)
      : kernels_(&kernels), block_(block), packed_b_(packed_b), packing_(packing) {}

  KERAMOS_FORCEINLINE_FUNCTION tiling::shape block() const { return block_; }
  KERAMOS_FORCEINLINE_FUNCTION static int recompute(int x) { return x; }
  /// Micro-tiles are cut to fit where a tile ends early.
  static bool can_shift_m(const gemm_problem<T>&) { return false; }
  static bool can_shift_n(const gemm_problem<T>&) { return false; }
  /// Bytes of scratch: a k-tile of A, one of B unless it is packed already, and the sums.
  KERAMOS_FORCEINLINE_FUNCTION std::size_t local_bytes() const {
    return a_bytes() + b_bytes() + sum_bytes() + 3 * alignment;
  }

  template <class Team>
  KERAMOS_FORCEINLINE_FUNCTION auto operands(const Team& team, const gemm_problem<T>& p,
                                             const tiling::position& at) const {
    if (packing_) packing_->finish();
    T* a_local = local(team, a_bytes());
    T* b_local = packed_b_.data ? nullptr : local(team, b_bytes());
    return stager<T>(*kernels_, p, at, block_.k, packed_b_, a_local, b_local);
  }
  template <class Team, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION auto accumulator(const Team& team, const gemm_problem<T>& p,
                                                const tiling::position& at, const Epilogue& epilogue) const {
    return host::accumulator<T, Epilogue>(*kernels_, p, at, epilogue, local(team, sum_bytes()));
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

}  // namespace keramos::detail::host

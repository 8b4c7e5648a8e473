// `stage` on a host: pack a slab of A, and of B unless an earlier kernel has packed it for all tiles.
#pragma once

#include <atomic>
#include <thread>

#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::host {

/// All of B (n x k) in panels, slab after slab of k.
template <class T>
struct packed_operand {
  const T* data = nullptr;  // (slabs, panels, columns of the slab, width)
  index_t rows = 0;         ///< n rounded up to whole panels
  int kc = 0;

  KERAMOS_FORCEINLINE_FUNCTION const T* at(index_t n, index_t k, int k_of_slab) const {
    return data + k * rows + n * k_of_slab;
  }
};

/// Packs `together` of the `panels` of one slab per index.
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
    const int k_of_slab = int(k - k0 < kc ? k - k0 : kc);
    const int cols = int(n - n0 < together * width ? n - n0 : together * width);
    pack(to + k0 * panels * width + n0 * k_of_slab, from.at(n0, k0), from.stride_mn, from.stride_k, cols,
         k_of_slab);
  }
};

/// Packing that the threads of one kernel share, instead of a kernel of its own to wake them for. Who comes takes parts
/// until none is left, and waits for those that others still have in hand: never for a thread that has yet to come,
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
  struct packed_slab {
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
  KERAMOS_FORCEINLINE_FUNCTION void stage(int slab, int /*slot*/) {
    const index_t k0 = at_.k0 + index_t(slab) * kc_;
    const int k = int(at_.k1 - k0 < kc_ ? at_.k1 - k0 : kc_);
    kernels_.pack_a(a_local_, p_.a.at(at_.m0, k0), p_.a.stride_mn, p_.a.stride_k, at_.rows, k);
    if (!packed_b_.data)
      kernels_.pack_b(b_local_, p_.b.at(at_.n0, k0), p_.b.stride_mn, p_.b.stride_k, at_.cols, k);
    staged_ = {a_local_, packed_b_.data ? packed_b_.at(at_.n0, k0, k) : b_local_, k};
  }
  KERAMOS_FORCEINLINE_FUNCTION void commit() {}
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION void arrive() {}

  KERAMOS_FORCEINLINE_FUNCTION int whole_slabs() const { return 0; }  // packing looks at bounds in any case
  KERAMOS_FORCEINLINE_FUNCTION packed_slab panels(int /*slot*/) const { return staged_; }

 private:
  const kernel_table<T>& kernels_;
  const gemm_problem<T>& p_;
  const tiling::position& at_;
  int kc_;
  packed_operand<T> packed_b_;
  T* a_local_;
  T* b_local_;
  packed_slab staged_{};
};

template <class Exec>
struct copy {
  template <class T>
  using stager = host::stager<T>;
};

}  // namespace keramos::backend::host

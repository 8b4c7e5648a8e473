// `stage` on a host: pack a slab of both operands into panels in the team's scratch.
#pragma once

#include <cstddef>

#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/interface.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::host {

/// Packed panels of one operand.
template <class T>
struct panel {
  const T* data;  // local, (count, k, width)
  int count;      ///< panels
  int k;          ///< columns in this slab
};

/// The operands of one block tile; one team of one thread owns it.
template <class T>
class stager {
 public:
  stager(const kernel_table<T>& kernels, const gemm_problem<T>& p, const tile::position& at, int kc,
         T* a_local, T* b_local)
      : kernels_(kernels), p_(p), at_(at), kc_(kc), a_local_(a_local), b_local_(b_local) {}

  void stage(int slab, int /*slot*/) {
    const index_t k = at_.k0 + index_t(slab) * kc_;
    k_ = int(at_.k1 - k < kc_ ? at_.k1 - k : kc_);
    kernels_.pack_a(a_local_, p_.a.at(at_.m0, k), p_.a.stride_mn, p_.a.stride_k, at_.rows, k_);
    kernels_.pack_b(b_local_, p_.b.at(at_.n0, k), p_.b.stride_mn, p_.b.stride_k, at_.cols, k_);
  }
  void commit() {}
  template <int Pending>
  void arrive() {}

  panel<T> a(int /*slot*/) const { return {a_local_, (at_.rows + kernels_.mr - 1) / kernels_.mr, k_}; }
  panel<T> b(int /*slot*/) const { return {b_local_, (at_.cols + kernels_.nr - 1) / kernels_.nr, k_}; }

 private:
  const kernel_table<T>& kernels_;
  const gemm_problem<T>& p_;
  const tile::position& at_;
  int kc_;
  int k_ = 0;
  T* a_local_;
  T* b_local_;
};

template <class Exec>
struct copy {
  template <class T>
  using stager = host::stager<T>;
};

}  // namespace keramos::backend::host

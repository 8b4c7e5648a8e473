// `stage` on a GPU: every thread of the team copies its share of a slab of k from global memory into
// team scratch, where both operands lie k-major: element (mn, k) at `k * ld + mn`, whatever the layout
// they came from. So multiply reads them all alike, and transposes cost no more than plain layouts.
#pragma once

#include <cstdint>
#include <cstring>

#include <keramos/backends/interface.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::simt {

/// Elements of padding behind each k row in scratch: keeps 16-byte alignment, and spreads the writes of
/// an operand that runs along k (32 bytes a row) and the reads of matrix fragments over all banks.
inline constexpr int pad = 4;

/// Copies by registers; the barrier of the main loop makes them visible.
struct plain_copier {
  /// Copies `valid` of `Count` elements and fills the rest with zeros.
  template <int Count, class T>
  KERAMOS_FORCEINLINE_FUNCTION static void copy(T* local, const T* global, int valid) {
    if constexpr (Count == 1) {
      *local = valid > 0 ? *global : T(0);
    } else {
      KERAMOS_UNROLL
      for (int i = 0; i < Count; ++i) local[i] = i < valid ? global[i] : T(0);
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION static void commit() {}
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION static void wait() {}
};

/// How the threads of a team share out a slab of MN x K elements.
///
/// Along mn: a warp takes consecutive mn (Vector elements a thread) of one k. Along k: a warp takes 32
/// bytes of k, one sector of memory, from each of several mn.
template <class T, int MN, int K, int Threads, tile::direction Along, int Vector>
struct slab_map {
  static_assert(Along == tile::direction::mn || Vector == 1,
                "keramos: an operand that runs along k is transposed on its way, element by element");
  static constexpr int sector = 32 / int(sizeof(T));
  static constexpr int lanes_k = Along == tile::direction::k ? (K < sector ? K : sector) : 1;
  static constexpr int lanes_mn =
      Along == tile::direction::mn ? (MN / Vector < Threads ? MN / Vector : Threads) : Threads / lanes_k;
  static constexpr int rows_k = Along == tile::direction::mn ? Threads / lanes_mn : lanes_k;
  static constexpr int passes_mn = (MN + lanes_mn * Vector - 1) / (lanes_mn * Vector);
  static constexpr int passes_k = (K + rows_k - 1) / rows_k;
  static_assert(MN % (lanes_mn * Vector) == 0 || passes_mn == 1);
  static_assert(K % rows_k == 0 || passes_k == 1);
  /// Whether some threads have nothing to do: the slab is smaller than the team.
  static constexpr bool partial = lanes_mn * Vector > MN || rows_k > K;

  KERAMOS_FORCEINLINE_FUNCTION static int mn(int thread) {
    return Along == tile::direction::mn ? thread % lanes_mn * Vector : thread / lanes_k;
  }
  KERAMOS_FORCEINLINE_FUNCTION static int k(int thread) {
    return Along == tile::direction::mn ? thread / lanes_mn : thread % lanes_k;
  }
};

/// Stages one operand's slabs, in order.
template <class T, int MN, int K, int Threads, tile::direction Along, int Vector, class Copier>
class operand_stager {
  using map = slab_map<T, MN, K, Threads, Along, Vector>;

 public:
  static constexpr int ld = MN + pad;

  /// `extent` rows of the tile lie inside the operand, which ends `k_left` columns on.
  KERAMOS_FORCEINLINE_FUNCTION operand_stager(const tile::operand<T>& from, index_t mn0, index_t k0,
                                              int extent, index_t k_left, int thread)
      : mn_(map::mn(thread)),
        k_(map::k(thread)),
        mn_left_(extent - mn_),
        stride_mn_(from.stride_mn),
        stride_k_(from.stride_k),
        k_left_(k_left),
        global_(from.at(mn0 + mn_, k0 + k_)) {}

  KERAMOS_FORCEINLINE_FUNCTION void stage(T* slab) {
    if (!map::partial || (mn_ < MN && k_ < K)) {
      T* local = slab + k_ * ld + mn_;
      if (k_left_ >= K)
        copy<false>(local);
      else
        copy<true>(local);
    }
    k_left_ -= K;
    global_ += K * stride_k_;
  }

 private:
  template <bool CheckK>
  KERAMOS_FORCEINLINE_FUNCTION void copy(T* local) const {
    KERAMOS_UNROLL
    for (int pk = 0; pk < map::passes_k; ++pk) {
      const int dk = pk * map::rows_k;
      const bool in_k = !CheckK || k_ + dk < k_left_;
      KERAMOS_UNROLL
      for (int pm = 0; pm < map::passes_mn; ++pm) {
        const int dmn = pm * map::lanes_mn * Vector;
        const int left = in_k ? mn_left_ - dmn : 0;
        const int valid = left < 0 ? 0 : left < Vector ? left : Vector;
        Copier::template copy<Vector>(local + dk * ld + dmn,
                                      global_ + dk * stride_k_ + dmn * stride_mn_, valid);
      }
    }
  }

  int mn_, k_;
  int mn_left_;
  index_t stride_mn_, stride_k_;
  index_t k_left_;
  const T* global_;
};

/// Both operands of a block tile.
template <class T, tile::config Config, tile::direction AlongA, int VectorA, tile::direction AlongB,
          int VectorB, int Threads, class Copier>
class stager {
  using stager_a = operand_stager<T, Config.block.m, Config.block.k, Threads, AlongA, VectorA, Copier>;
  using stager_b = operand_stager<T, Config.block.n, Config.block.k, Threads, AlongB, VectorB, Copier>;

 public:
  static constexpr int a_size = Config.block.k * stager_a::ld;
  static constexpr int slot_size = a_size + Config.block.k * stager_b::ld;

  template <class Problem>
  KERAMOS_FORCEINLINE_FUNCTION stager(const Problem& p, const tile::position& at, T* local, int thread)
      : a_(p.a, at.m0, at.k0, at.rows, at.k1 - at.k0, thread),
        b_(p.b, at.n0, at.k0, at.cols, at.k1 - at.k0, thread),
        local_(local) {}

  KERAMOS_FORCEINLINE_FUNCTION void stage(int /*slab*/, int slot) {
    a_.stage(local_ + slot * slot_size);
    b_.stage(local_ + slot * slot_size + a_size);
  }
  KERAMOS_FORCEINLINE_FUNCTION void commit() const { Copier::commit(); }
  template <int Pending>
  KERAMOS_FORCEINLINE_FUNCTION void arrive() const {
    Copier::template wait<Pending>();
  }
  KERAMOS_FORCEINLINE_FUNCTION const T* a(int slot) const { return local_ + slot * slot_size; }
  KERAMOS_FORCEINLINE_FUNCTION const T* b(int slot) const {
    return local_ + slot * slot_size + a_size;
  }

 private:
  stager_a a_;
  stager_b b_;
  T* local_;  // (stages, {A: (k, m + pad), B: (k, n + pad)})
};

/// A backend's copy: its Copier is all that differs.
template <class Copier>
struct copy {
  template <class T, tile::config Config, tile::direction AlongA, int VectorA, tile::direction AlongB,
            int VectorB, int Threads>
  using stager = simt::stager<T, Config, AlongA, VectorA, AlongB, VectorB, Threads, Copier>;
};

}  // namespace keramos::backend::simt

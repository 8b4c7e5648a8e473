// `multiply` on a GPU without matrix units: outer products of register fragments.
#pragma once

#include <cstdint>

#include <keramos/backends/simt/copy.hpp>
#include <keramos/core/macros.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::backend::simt {

/// `Count` elements that move as one 16-byte access where they fill it.
template <class T, int Count>
struct alignas(sizeof(T) * Count) run {
  T value[Count];
};

/// Writes runs of consecutive columns of C through the epilogue, as vectors where C allows them.
template <class T, int Count>
class c_writer {
 public:
  KERAMOS_FORCEINLINE_FUNCTION c_writer(const gemm_problem<T>& p, const tile::position& at)
      : p_(p),
        at_(at),
        vectors_(p.c_col_stride == 1 && p.c_row_stride % Count == 0 &&
                 reinterpret_cast<std::uintptr_t>(p.c) % sizeof(run<T, Count>) == 0) {}

  /// Columns j ... j + Count - 1 of row i of the tile.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(int i, int j, const T (&acc)[Count],
                                          const Epilogue& epilogue) const {
    if (i >= at_.rows) return;
    const index_t gi = at_.m0 + i, gj = at_.n0 + j;
    T* c = p_.c + gi * p_.c_row_stride + gj * p_.c_col_stride;
    if (vectors_ && j + Count <= at_.cols) {
      using vector = run<T, Count>;
      vector out;
      if (epilogue.reads_c()) {
        const vector old = *reinterpret_cast<const vector*>(c);
        KERAMOS_UNROLL
        for (int v = 0; v < Count; ++v) out.value[v] = epilogue(acc[v], old.value[v], gi, gj + v);
      } else {
        KERAMOS_UNROLL
        for (int v = 0; v < Count; ++v) out.value[v] = epilogue(acc[v], gi, gj + v);
      }
      *reinterpret_cast<vector*>(c) = out;
    } else {
      KERAMOS_UNROLL
      for (int v = 0; v < Count; ++v) {
        if (j + v >= at_.cols) break;
        T& to = c[v * p_.c_col_stride];
        to = epilogue.reads_c() ? epilogue(acc[v], to, gi, gj + v) : epilogue(acc[v], gi, gj + v);
      }
    }
  }

 private:
  const gemm_problem<T>& p_;
  const tile::position& at_;
  bool vectors_;
};

/// A thread's fragment.m x fragment.n accumulators on FMA units. Its rows and columns come in runs of
/// 16 bytes, spread so that the lanes of a warp read neighbouring runs.
template <class T, tile::config Config, int Warp>
class fma_accumulator {
  static constexpr int tm = Config.fragment.m, tn = Config.fragment.n;
  static constexpr int vector = 16 / int(sizeof(T));
  static constexpr int lanes_m = Config.warp.m / tm, lanes_n = Config.warp.n / tn;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int a_ld = Config.block.m + pad, b_ld = Config.block.n + pad;
  static_assert(lanes_m * lanes_n == Warp, "keramos: thread tiles must fill the warp tile");
  static_assert(tm % vector == 0 && tn % vector == 0, "keramos: fragments are runs of 16 bytes");

 public:
  KERAMOS_FORCEINLINE_FUNCTION explicit fma_accumulator(int thread) {
    const int warp = thread / Warp, lane = thread % Warp;
    m_ = warp / warps_n * Config.warp.m + lane / lanes_n * vector;
    n_ = warp % warps_n * Config.warp.n + lane % lanes_n * vector;
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i)
      KERAMOS_UNROLL
      for (int j = 0; j < tn; ++j) acc_[i][j] = T(0);
  }

  KERAMOS_FORCEINLINE_FUNCTION void multiply(const T* a_local, const T* b_local) {
    T a_frag[2][tm], b_frag[2][tn];
    const T* a = a_local + m_;
    const T* b = b_local + n_;
    load<tm, lanes_m>(a_frag[0], a);
    load<tn, lanes_n>(b_frag[0], b);
    KERAMOS_UNROLL
    for (int k = 0; k < Config.block.k; ++k) {
      if (k + 1 < Config.block.k) {  // the next fragments load while these multiply
        load<tm, lanes_m>(a_frag[(k + 1) % 2], a + (k + 1) * a_ld);
        load<tn, lanes_n>(b_frag[(k + 1) % 2], b + (k + 1) * b_ld);
      }
      KERAMOS_UNROLL
      for (int i = 0; i < tm; ++i)
        KERAMOS_UNROLL
        for (int j = 0; j < tn; ++j) acc_[i][j] += a_frag[k % 2][i] * b_frag[k % 2][j];
    }
  }

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<T>& p, const tile::position& at,
                                          const Epilogue& epilogue) const {
    const c_writer<T, vector> writer(p, at);
    KERAMOS_UNROLL
    for (int i = 0; i < tm; ++i)
      KERAMOS_UNROLL
      for (int j = 0; j < tn; j += vector) {
        T out[vector];
        KERAMOS_UNROLL
        for (int v = 0; v < vector; ++v) out[v] = acc_[i][j + v];
        writer.write(m_ + i / vector * lanes_m * vector + i % vector,
                     n_ + j / vector * lanes_n * vector, out, epilogue);
      }
  }

 private:
  template <int Count, int Lanes>
  KERAMOS_FORCEINLINE_FUNCTION static void load(T (&frag)[Count], const T* local) {
    KERAMOS_UNROLL
    for (int i = 0; i < Count; i += vector) {
      const auto v = *reinterpret_cast<const run<T, vector>*>(local + i * Lanes);
      KERAMOS_UNROLL
      for (int j = 0; j < vector; ++j) frag[i + j] = v.value[j];
    }
  }

  int m_, n_;  // first row and column of this thread in the block tile
  T acc_[tm][tn];
};

template <class Exec>
struct mma {
  template <class T, tile::config Config>
  using accumulator = fma_accumulator<T, Config, backend::traits<Exec>::warp_size>;
};

}  // namespace keramos::backend::simt

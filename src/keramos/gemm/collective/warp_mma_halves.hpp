// Accumulators on matrix units for elements of sixteen bits, summed in f32: fragments come from local memory 8 x 8
// matrices at a time, whichever way their rows lie there.
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A warp's tile of accumulators as 16 x 8 fragments; each step multiplies 16 columns of k.
template <class Types, tiling::config Config, class Exec>
class warp_mma_halves_accumulator {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using mma = backend::mma<Exec>;
  static constexpr int fm = Config.warp.m / 16, fn = Config.warp.n / 8;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int steps = Config.block.k / 16;
  static_assert(sizeof(E) == 2 && sizeof(typename Types::b) == 2);
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 16 == 0,
                "keramos: warp tiles are multiples of what is loaded at once, 16 x 16");
  static_assert(Config.block.k % 32 == 0, "keramos: two sets of fragments take turns");

 public:
  /// Matrices are transposed where they are loaded, so panels may lie either way.
  static constexpr bool reads_either = true;

  KERAMOS_FORCEINLINE_FUNCTION explicit warp_mma_halves_accumulator(int thread)
      : m_(thread / 32 / warps_n * Config.warp.m),
        n_(thread / 32 % warps_n * Config.warp.n),
        lane_(thread % 32) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 4; ++v) acc_[i][j][v / 2][v % 2] = 0;
  }

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels& p) {
    load(0, p, 0);
  }

  template <class Panels, class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& now, const Next& next) {
    KERAMOS_UNROLL
    for (int s = 0; s < steps; ++s) {
      if (s + 1 < steps)  // the next fragments load while these multiply
        load((s + 1) % 2, now, s + 1);
      else
        load(0, next(), 0);
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) {
        const int column = i % 2 ? fn - 1 - j : j;  // and back: neighbours share a fragment
        mma::template multiply_16x8x16<E>(acc_[i][column], a_frag_[s % 2][i], b_frag_[s % 2][column]);
      }
    }
  }

  /// `f(number, run)` for the accumulators in runs of 8 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) f((i * fn + j) * 2 + half, acc_[i][j][half]);
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const c_writer<Types, 2, Position> writer(p, at);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half)
      writer.write(m_ + i * 16 + half * 8 + lane_ / 4, n_ + j * 8 + lane_ % 4 * 2, acc_[i][j][half],
                   epilogue);
  }

 private:
  /// Each lane says where one row of 8 elements begins: lanes 0 to 7 those of the first matrix, and so on.
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load(int set, const Panels& p, int step) {
    const int row = lane_ % 8, low = lane_ / 8 % 2 * 8, high = lane_ / 16 * 8, k = step * 16;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) {  // matrices (m, k): (0, 0), (8, 0), (0, 8), (8, 8)
      if constexpr (decltype(p.a)::stride_k == 1)
        mma::template load_8x8x4<false>(a_frag_[set][i], p.a.at(m_ + i * 16 + low + row, k + high));
      else
        mma::template load_8x8x4<true>(a_frag_[set][i], p.a.at(m_ + i * 16 + low, k + high + row));
    }
    KERAMOS_UNROLL
    for (int j = 0; j < fn; j += 2) {  // matrices (n, k): (0, 0), (0, 8), (8, 0), (8, 8)
      unsigned both[4];
      if constexpr (decltype(p.b)::stride_k == 1)
        mma::template load_8x8x4<false>(both, p.b.at(n_ + j * 8 + high + row, k + low));
      else
        mma::template load_8x8x4<true>(both, p.b.at(n_ + j * 8 + high, k + low + row));
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) b_frag_[set][j + v / 2][v % 2] = both[v];
    }
  }

  int m_, n_, lane_;                              // the warp's first row and column of the block tile
  T acc_[fm][fn][2][2];                           // (fragment row, fragment column, rows 0-7 or 8-15, column)
  unsigned a_frag_[2][fm][4], b_frag_[2][fn][2];  // (set, fragment, pairs of elements)
};

}  // namespace keramos::detail::simt

// Accumulators of complex numbers on the matrix units of real ones (warp_mma.hpp).
#pragma once

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A warp's tile as 16 x 8 fragments of real sums, each of 8 x 4 complex numbers: the fragment's first 8 rows are real parts
/// of A's rows, the others their imaginary parts; its columns are real and imaginary parts of B's columns by turns. So a
/// lane holds the four sums of each of its numbers, and puts them together at the end, conjugated as is asked for.
template <class Types, tiling::config Config, class Exec>
class warp_mma_complex_accumulator {
  using T = typename Types::accumulator;
  using R = typename T::value_type;
  static constexpr int fm = Config.warp.m / 8, fn = Config.warp.n / 4;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int fk = Config.fragment.k, steps = Config.block.k / fk;
  static_assert(Config.warp.m % 8 == 0 && Config.warp.n % 4 == 0 && Config.block.k % fk == 0,
                "keramos: warp tiles are multiples of the fragment");

 public:
  /// Fragments are read element by element, so panels may have either layout.
  static constexpr bool reads_either = true, takes_kinds = false;

  KERAMOS_FORCEINLINE_FUNCTION explicit warp_mma_complex_accumulator(int thread) {
    const int warp = thread / 32, group = thread % 32 / 4;
    m_ = warp / warps_n * Config.warp.m + group;
    n_ = warp % warps_n * Config.warp.n;
    group_ = group;
    k_ = thread % 4;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 4; ++v) acc_[i][j][v / 2][v % 2] = 0;
  }

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void start(const Panels& p) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) load_a(i, p, 0);
    load_b(b_frag_[0], p, 0);
  }

  /// In the order of warp_mma_accumulator, for its reasons.
  template <class Panels, class Next>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const Panels& now, const Next& next) {
    KERAMOS_UNROLL
    for (int s = 0; s < steps; ++s) {
      const int set = s % 2;
      const Panels p = s + 1 < steps ? now : next();
      const int step = (s + 1) % steps;
      load_b(b_frag_[1 - set], p, step);
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) {
        KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j)
          backend::mma<Exec>::multiply_16x8(acc_[i][j], a_frag_[i], b_frag_[set][j]);
        load_a(i, p, step);
      }
    }
    if constexpr (steps % 2 == 1) {
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
      for (int v = 0; v < fk / 4; ++v) b_frag_[0][j][v] = b_frag_[1][j][v];
    }
  }

  /// From real sums to complex ones.
  KERAMOS_FORCEINLINE_FUNCTION void finish(const gemm_problem<Types>& p) {
    // a·b has the parts ar·br - ai·bi and ar·bi + ai·br.
    const R of_bi = p.b.conjugated ? R(-1) : R(1), of_ai = p.a.conjugated ? R(-1) : R(1);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) {
      R(&sums)[2][2] = acc_[i][j];
      sums[0][0] -= of_ai * of_bi * sums[1][1];
      sums[0][1] = of_bi * sums[0][1] + of_ai * sums[1][0];
    }
  }

  /// `f(number, run)` for the accumulators in runs of 16 bytes, once they are complex.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) {
      T run[1] = {number(i, j)};
      f(i * fn + j, run);
      acc_[i][j][0][0] = run[0].re, acc_[i][j][0][1] = run[0].im;
    }
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const c_writer<Types, 1, Position> writer(p, at);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) {
      T row[fn][1];
      KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) row[j][0] = number(i, j);
      writer.write_row(
          m_ + i * 8, [&](int j) { return n_ + j * 4 + k_; }, row, epilogue);
    }
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION T number(int i, int j) const { return {acc_[i][j][0][0], acc_[i][j][0][1]}; }

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_a(int i, const Panels& p, int step) {
    KERAMOS_UNROLL
    for (int v = 0; v < fk / 4; ++v) {
      const T z = *p.a.at(m_ + i * 8, k_ + step * fk + v * 4);
      a_frag_[i][2 * v] = z.re, a_frag_[i][2 * v + 1] = z.im;
    }
  }
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_b(R (&to)[fn][fk / 4], const Panels& p, int step) const {
    KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < fk / 4; ++v) {
      const T* const z = p.b.at(n_ + j * 4 + group_ / 2, k_ + step * fk + v * 4);
      to[j][v] = *(&z->re + group_ % 2);
    }
  }

  int m_, n_, k_,
      group_;  // this lane's first row, its warp's first column, its k of a fragment, and its eighth of the warp
  R acc_[fm][fn][2][2];  // (fragment row, fragment column, part of A, part of B)
  R a_frag_[fm][fk / 2], b_frag_[2][fn][fk / 4];
};

}  // namespace keramos::detail::simt

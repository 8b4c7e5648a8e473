// Accumulators on matrix units that a warp drives with mma.sync or the like: the backend's multiply atom.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_block.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/lane_exchange.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A warp's tile of accumulators as 16 x 8 fragments of its matrix unit.
template <class Types, tiling::config Config, class Exec>
class warp_mma_accumulator {
  using T = typename Types::accumulator;
  static_assert(Types::uniform || Types::needs_matrix_units);
  static constexpr int fm = Config.warp.m / 16, fn = Config.warp.n / 8;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int fk = Config.fragment.k, steps = Config.block.k / fk;
  static constexpr std::size_t c_block_bytes = 16 * 64;
  using atom = backend::mma<Exec>;
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 8 == 0 && Config.block.k % fk == 0,
                "keramos: warp tiles are multiples of the fragment");

 public:
  /// Fragments are read element by element, so panels may have either layout.
  static constexpr bool reads_either = true, takes_kinds = false;

  KERAMOS_FORCEINLINE_FUNCTION explicit warp_mma_accumulator(int thread) {
    const int warp = thread / 32, group = thread % 32 / 4;
    m_ = warp / warps_n * Config.warp.m + group;
    n_ = warp % warps_n * Config.warp.n + group;
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

  /// The next step's fragments load while this one's multiply: those of A row by row, each after the last
  /// product that needs it, those of B into a second set. Two sets of both would not fit the registers.
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

  /// `f(number, run)` for the accumulators in runs of two.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) f((i * fn + j) * 2 + half, acc_[i][j][half]);
  }

  /// Whether C passes through local memory, and the bytes that it takes of the k-tiles', which nobody reads any more.
  static constexpr bool writes_through_local = sizeof(T) == 4;
  static constexpr std::size_t writing_bytes = Config.warps() * c_block_bytes;
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through(char* local, const gemm_problem<Types>& p,
                                                  const Position& at, const Epilogue& epilogue) const requires
      writes_through_local {
    using of_block = c_block<Types, 16, fragment_lanes, Exec>;
    const int group = m_ % 8, m = m_ - group, n = n_ - group;
    const int warp = m / Config.warp.m * warps_n + n / Config.warp.n;
    static_assert(of_block::bytes == c_block_bytes);
    const tile_window there(p, at);
    of_block(p, at, there, local + warp * c_block_bytes, group * 4 + k_)
        .update_fragments(epilogue, acc_, m, n);
  }

  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const requires(!writes_through_local) {
    const c_writer<Types, 2, Position> writer(p, at, m_, n_ - m_ % 8 + k_ * 2);
    if (atom::any_in_warp(!writer.writes_whole_vectors())) {
      // Hidden, or what follows from them would be kept in registers while sums are made.
      const exchanging lanes(p.c_col_stride == 1, atom::opaque(m_), atom::opaque(n_), atom::opaque(k_));
      c_writer<Types, 2, Position>(p, at, lanes.m, lanes.n)
          .template write_exchanged<2 * fm, fn / fragments_at_once>(
              lanes,
              [&](int i, int j, int v)
                  KERAMOS_INLINED { return acc_[i / 2][j * fragments_at_once + v / 2][i % 2][v % 2]; },
              epilogue);
      return;
    }
    if constexpr (is_linear<Epilogue>) {
      KERAMOS_UNROLL
      for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half)
        writer.template write<true>(i * 16 + half * 8, j * 8, acc_[i][j][half], epilogue);
    } else {
      writer.template write_in_steps<2 * fm, fn, true>(
          [&](int i, int j, int v) KERAMOS_INLINED { return acc_[i / 2][j][i % 2][v]; },
          [](int i) { return i * 8; }, [](int j) { return j * 8; }, epilogue);
    }
  }

 private:
  static constexpr int fragments_at_once = fn % 2 == 0 ? 2 : 1;
  /// Lanes of neighbouring rows that exchange their columns of one fragment or two.
  struct exchanging : exchanging_lane<atom, 2 * fragments_at_once, 6> {
    int m, n;  ///< the first element that this lane writes

    KERAMOS_FORCEINLINE_FUNCTION exchanging(bool columns_are_neighbours, int m_there, int n_there,
                                            int k_there)
        : exchanging_lane<atom, 2 * fragments_at_once, 6>(columns_are_neighbours,
                                                          m_there % (2 * fragments_at_once), 4, 8, 1),
          m(m_there - this->number),
          n(n_there - m_there % 8 + k_there * 2 + this->number + this->number / 2 * this->gap) {}
    KERAMOS_FORCEINLINE_FUNCTION static int row(int i) { return i * 8; }
    KERAMOS_FORCEINLINE_FUNCTION static int col(int j) { return j * 8 * fragments_at_once; }
  };

  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_a(int i, const Panels& p, int step) {
    KERAMOS_UNROLL
    for (int v = 0; v < fk / 2; ++v)
      a_frag_[i][v] =
          backend::mma<Exec>::rounded(*p.a.at(m_ + i * 16 + v % 2 * 8, k_ + step * fk + v / 2 * 4));
  }
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load_b(T (&to)[fn][fk / 4], const Panels& p, int step) const {
    KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < fk / 4; ++v)
      to[j][v] = backend::mma<Exec>::rounded(*p.b.at(n_ + j * 8, k_ + step * fk + v * 4));
  }

  int m_, n_, k_;        // the first element that this lane reads of the warp's tile
  T acc_[fm][fn][2][2];  // (fragment row, fragment column, rows 0-7 or 8-15, column)
  T a_frag_[fm][fk / 2], b_frag_[2][fn][fk / 4];
};

}  // namespace keramos::detail::simt

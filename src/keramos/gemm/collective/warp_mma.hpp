// Accumulators on matrix units that a warp drives with mma.sync or the like: the backend's multiply atom.
#pragma once

#include <cstddef>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_block.hpp>
#include <keramos/gemm/collective/sum_block.hpp>
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
  static constexpr int rows_at_once = rows_stored(Config.warp.m, 16, Config.warps(),
                                                  Config.warp.n* int(sizeof(T)), k_tile_bytes<Types>(Config));
  static constexpr int written_at_once = Config.teams > 2 ? 4 : 8;  // many teams have few registers each
  using sums_of_warp = sum_block<Types, rows_at_once, Config.warp.n, places_of_fragments<Config.warp.n>,
                                 written_at_once, Exec>;
  static constexpr int c_block_bytes = 16 * 64;
  /// Local memory of a warp that C of one row of fragments takes on its way.
  static constexpr int c_bytes = [] {
    if constexpr (sizeof(T) == 4) {
      static_assert(c_block<Types, 16, fragment_lanes, Exec>::bytes == c_block_bytes);
      return c_block_bytes;
    } else {
      return sums_of_warp::bytes;
    }
  }();
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

  /// C passes through local memory: these bytes of the k-tiles', which nobody reads any more.
  static constexpr bool writes_through_local = true;
  static constexpr std::size_t writing_bytes = Config.warps() * c_bytes;
  /// But not doubles of a tile that is vectors of a C that is not read.
  static constexpr bool writes_from_registers = sizeof(T) == 8;
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION bool writes_vectors(const gemm_problem<Types>& p, const Position& at,
                                                   const Epilogue& epilogue) const requires(sizeof(T) == 8) {
    return !atom::any_in_warp(reads_c<T>(epilogue) || !writer(p, at).writes_whole_vectors());
  }
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const gemm_problem<Types>& p, const Position& at,
                                                  const Epilogue& epilogue) const {
    const auto to = writer(p, at);
    for_each_place([&](int row, int col, const auto& sums)
                       KERAMOS_INLINED { to.template write_vector<atom>(row, col, sums, epilogue); });
  }
  /// Any tile, without local memory.
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) const {
    const auto to = writer(p, at);
    for_each_place([&](int row, int col, const auto& sums)
                       KERAMOS_INLINED { to.write(row, col, sums, epilogue); });
  }
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through(char* local, const gemm_problem<Types>& p,
                                                  const Position& at, const Epilogue& epilogue) const {
    // Hidden, or what follows from them would be kept in registers while sums are made.
    const int m_there = atom::opaque(m_), n_there = atom::opaque(n_), k = atom::opaque(k_);
    const int group = m_there % 8, m = m_there - group, n = n_there - group;
    const int warp = m / Config.warp.m * warps_n + n / Config.warp.n;
    char* const of_warp = local + warp * c_bytes;
    const int lane = group * 4 + k;
    if constexpr (sizeof(T) == 4) {
      const tile_window there(p, at);
      c_block<Types, 16, fragment_lanes, Exec>(p, at, there, of_warp, lane)
          .update_fragments(epilogue, acc_, m, n);
    } else {
      const sums_of_warp sums(p, at, of_warp, lane);
      const int place = sums.place(group, k * 2);
      constexpr int at_once = rows_at_once / 16;
      KERAMOS_UNROLL
      for (int i = 0; i < fm; i += at_once) {
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v) KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
        for (int half = 0; half < 2; ++half)
          sums.store(place, v * 16 + half * 8, j * 8, acc_[i + v][j][half]);
        sums.write(m + i * 16, n, epilogue);
      }
    }
  }

 private:
  /// `f(row, column, run)` for the accumulators in runs of two, counted from the lane's first element.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_place(const F& f) const {
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) f(i * 16 + half * 8, j * 8, acc_[i][j][half]);
  }
  template <class Position>
  KERAMOS_FORCEINLINE_FUNCTION auto writer(const gemm_problem<Types>& p, const Position& at) const {
    return c_writer<Types, 2, Position>(p, at, m_, n_ - m_ % 8 + k_ * 2);
  }

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

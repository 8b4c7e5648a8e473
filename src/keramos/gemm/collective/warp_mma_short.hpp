// Accumulators on matrix units for elements of one or two bytes, summed in four: fragments come from local memory 8 x 8
// matrices of two bytes at a time, whichever way their rows lie there.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_block.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// A warp's tile of accumulators as 16 x 8 fragments; each step multiplies 32 bytes of each row along k.
///
/// Bytes that lie along m or n cannot be transposed one by one: the loads do so with pairs of neighbours, which are then
/// taken apart. So the first eight rows of a fragment of A are every other row of the tile's sixteen, and the last eight
/// those between; likewise a fragment of B has every other of sixteen columns, and the next one those between. Where bytes
/// lie along k the same order is as good (panel::place keeps it free of bank conflicts), and gives a lane four
/// neighbours of a row of C.
template <class Types, tiling::config Config, class Exec>
class warp_mma_short_accumulator {
  using E = typename Types::a;
  using T = typename Types::accumulator;
  using C = typename Types::c;
  using mma = backend::mma<Exec>;
  static constexpr bool bytes = sizeof(E) == 1;
  static constexpr int chunk = 16 / int(sizeof(E));  ///< elements of a row of a matrix, if it lies along k
  static constexpr int fm = Config.warp.m / 16, fn = Config.warp.n / 8;
  static constexpr int warps_n = Config.block.n / Config.warp.n;
  static constexpr int steps = Config.block.k / (2 * chunk);
  using of_block = c_block<Types, columns_of_c_block(Config.warp.n), Exec>;
  static_assert(sizeof(E) <= 2 && sizeof(typename Types::b) == sizeof(E) && sizeof(T) == 4);
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 16 == 0,
                "keramos: warp tiles are multiples of what is loaded at once, 16 x 16");
  static_assert(Config.block.k % (4 * chunk) == 0, "keramos: two sets of fragments take turns");

 public:
  /// Matrices are transposed where they are loaded, so panels may lie either way.
  static constexpr bool reads_either = true, takes_kinds = false;

  KERAMOS_FORCEINLINE_FUNCTION explicit warp_mma_short_accumulator(int thread)
      : warp_(thread / 32),
        m_(warp_ / warps_n * Config.warp.m),
        n_(warp_ % warps_n * Config.warp.n),
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
    if constexpr (bytes) {  // whose kinds are part of the instruction
      using yes = std::true_type;
      using no = std::false_type;
      if (now.a.kind())
        now.b.kind() ? multiply_as(now, next, yes(), yes()) : multiply_as(now, next, yes(), no());
      else
        now.b.kind() ? multiply_as(now, next, no(), yes()) : multiply_as(now, next, no(), no());
    } else {
      multiply_as(now, next);
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

  /// `f(row, column, sum)` for the thread's accumulators, in the block tile.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_sum(const F& f) {
    const int first_row = m_ + row_of(lane_ / 4, 0), first_col = n_ + lane_ % 4 * neighbours;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) KERAMOS_UNROLL
    for (int v = 0; v < 2; ++v) {
      const int col = bytes ? j / 2 * 16 + j % 2 + 2 * v : j * 8 + v;
      f(first_row + i * 16 + row_of(0, half), first_col + col, acc_[i][j][half][v]);
    }
  }

  /// Whether C passes through local memory, in so many bytes of a team's, which nobody reads any more.
  static constexpr bool writes_through_local = sizeof(C) == 2;
  static constexpr std::size_t writing_bytes = writes_through_local ? Config.warps() * of_block::bytes : 0;
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through(char* local, const gemm_problem<Types>& p,
                                                  const Position& at, const Epilogue& epilogue) const requires
      writes_through_local {
    constexpr int columns = of_block::columns, across = Config.warp.n / columns;
    const tile_window there(p, at);
    const of_block block(p, at, there, local + warp_ * of_block::bytes, lane_);
    block.template update_each<fm * across, bytes>(
        epilogue,
        [&](T(&few)[columns / 2], int b) KERAMOS_INLINED {
          KERAMOS_UNROLL
          for (int s = 0; s < columns / 2; ++s)
            few[s] = acc_[b / across][b % across * columns / 8 + s / 4][s / 2 % 2][s % 2];
        },
        [&](int b) { return m_ + b / across * 16; }, [&](int b) { return n_ + b % across * columns; });
  }

  /// BLAS' update of a whole tile is done while it is written. All else is applied to the sums first, and then written.
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue) requires(!writes_through_local) {
    const tile_window there(p, at);
    const bool whole = there.has(m_, n_) && there.has(m_ + Config.warp.m - 1, n_ + Config.warp.n - 1) &&
                       p.c_col_stride == 1 && p.c_row_stride % neighbours == 0 && at.n0 % neighbours == 0 &&
                       reinterpret_cast<std::uintptr_t>(p.c) % sizeof(run<C, neighbours>) == 0;
    if constexpr (is_linear<Epilogue>)
      if (whole)
        return reads_c<T>(epilogue) ? write_whole<true>(p, at, epilogue)
                                    : write_whole<false>(p, at, epilogue);
    apply_to_sums(p, at, there, *this, epilogue);
    if (whole)
      write_whole<false>(p, at, sums_as_they_are());
    else
      write_part(p, at, there);
  }

 private:
  static constexpr int neighbours = bytes ? 4 : 2;  ///< elements of a row of C that a lane has side by side

  /// `f(row, col, sums)` for such runs, whose places in the warp's tile are those of the lane's first one and what the compiler
  /// knows.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_run(const F& f) const {
    const int first_row = row_of(lane_ / 4, 0), first_col = lane_ % 4 * neighbours;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) KERAMOS_UNROLL
    for (int j = 0; j < fn; j += neighbours / 2) {
      const int row = first_row + i * 16 + row_of(0, half), col = first_col + j * 8;
      if constexpr (bytes) {
        const T(&even)[2] = acc_[i][j][half];
        const T(&odd)[2] = acc_[i][j + 1][half];
        const T four[4] = {even[0], odd[0], even[1], odd[1]};
        f(row, col, four);
      } else {
        f(row, col, acc_[i][j][half]);
      }
    }
  }

  /// Writes a tile that lies inside C, in aligned runs. A tile of few k-tiles takes longer to write than to multiply, so nothing
  /// is asked for each element.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_whole(const gemm_problem<Types>& p, const tiling::position& at,
                                                const Epilogue& epilogue) const {
    const index_t i = at.m0 + m_, j = at.n0 + n_;
    C* const c = p.c + i * p.c_row_stride + j;
    for_each_run([&](int row, int col, const T(&sums)[neighbours]) {
      run<C, neighbours> x;
      C* const at_run = c + row * p.c_row_stride + col;
      if constexpr (Reads) x = load_at_once(reinterpret_cast<const run<C, neighbours>*>(at_run));
      KERAMOS_UNROLL
      for (int v = 0; v < neighbours; ++v)
        x.value[v] = Reads ? element_with_c(epilogue, p.place, sums[v], x.value[v], i + row, j + col + v)
                           : element_without_c<C>(epilogue, p.place, sums[v], i + row, j + col + v);
      store_at_once(at_run, x);
    });
  }
  /// Writes what is there of a tile whose sums are elements of C.
  KERAMOS_FORCEINLINE_FUNCTION void write_part(const gemm_problem<Types>& p, const tiling::position& at,
                                               const tile_window& there) const {
    C* const c = p.c + (at.m0 + m_) * p.c_row_stride + (at.n0 + n_) * p.c_col_stride;
    for_each_run([&](int row, int col, const T(&sums)[neighbours]) {
      KERAMOS_UNROLL
      for (int v = 0; v < neighbours; ++v)
        if (there.has(m_ + row, n_ + col + v))
          c[row * p.c_row_stride + (col + v) * p.c_col_stride] = static_cast<C>(sums[v]);
    });
  }

  /// `Kinds` are those of the elements of A and of B, if there are several (tiling::reading).
  template <class Panels, class Next, class... Kinds>
  KERAMOS_FORCEINLINE_FUNCTION void multiply_as(const Panels& now, const Next& next, Kinds... kinds) {
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
        mma::template multiply_short<E>(acc_[i][column], a_frag_[s % 2][i], b_frag_[s % 2][column], kinds...);
      }
    }
  }

  /// Where row `i` of half `half` of a fragment of A lies in its sixteen; likewise of columns of two fragments of B.
  KERAMOS_FORCEINLINE_FUNCTION static int row_of(int i, int half) {
    return bytes ? 2 * i + half : 8 * half + i;
  }

  /// Each lane says where one row of 16 bytes begins: lanes 0 to 7 those of the first matrix, and so on.
  template <class Panels>
  KERAMOS_FORCEINLINE_FUNCTION void load(int set, const Panels& p, int step) {
    const int row = lane_ % 8, second = lane_ / 8 % 2, upper = lane_ / 16, k = step * 2 * chunk;
    // Along m or n, each matrix has 8 rows of k: bytes of rows 4t to 4t + 3 of sixteen come to one lane.
    const int k_row = bytes ? upper * chunk + row / 2 * 4 + second * 2 + row % 2 : 0;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) {  // (half of m, half of k): (0, 0), (1, 0), (0, 1), (1, 1)
      const int m = m_ + i * 16;
      auto& to = a_frag_[set][i];
      if constexpr (decltype(p.a)::stride_k == 1) {
        mma::template load_8x8x4<false>(to, p.a.at(m + row_of(row, second), k + upper * chunk));
      } else if constexpr (bytes) {
        unsigned pairs[4];
        mma::template load_8x8x4<true>(pairs, p.a.at(m, k + k_row));
        mma::take_apart(to[0], to[1], pairs[0], pairs[1]);
        mma::take_apart(to[2], to[3], pairs[2], pairs[3]);
      } else {
        mma::template load_8x8x4<true>(to, p.a.at(m + second * 8, k + upper * 8 + row));
      }
    }
    KERAMOS_UNROLL
    for (int j = 0; j < fn; j += 2) {  // (half of n, half of k): (0, 0), (0, 1), (1, 0), (1, 1)
      const int n = n_ + j * 8;
      unsigned both[4];
      if constexpr (decltype(p.b)::stride_k == 1) {
        mma::template load_8x8x4<false>(both, p.b.at(n + row_of(row, upper), k + second * chunk));
      } else if constexpr (bytes) {
        unsigned pairs[4];
        mma::template load_8x8x4<true>(pairs, p.b.at(n, k + k_row));
        mma::take_apart(both[0], both[2], pairs[0], pairs[1]);
        mma::take_apart(both[1], both[3], pairs[2], pairs[3]);
      } else {
        mma::template load_8x8x4<true>(both, p.b.at(n + upper * 8, k + second * 8 + row));
      }
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) b_frag_[set][j + v / 2][v % 2] = both[v];
    }
  }

  int warp_, m_, n_, lane_;                       // the warp, and its first row and column of the block tile
  T acc_[fm][fn][2][2];                           // (fragment row, fragment column, half of its rows, column)
  unsigned a_frag_[2][fm][4], b_frag_[2][fn][2];  // (set, fragment, four bytes of elements)
};

}  // namespace keramos::detail::simt

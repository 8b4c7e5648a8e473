// Accumulators on matrix units for elements of one or two bytes, summed in four: fragments come from local memory 8 x 8
// matrices of two bytes at a time, whatever their layout there.
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
/// Bytes whose rows run along m or n cannot be transposed one by one: the loads do so with pairs of neighbours, which are then
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
  using lanes = std::conditional_t<bytes, byte_lanes, fragment_lanes>;
  using of_block = c_block<Types, columns_of_c_block<C, Config.warp.n>, lanes, Exec>;
  static_assert(sizeof(E) <= 2 && sizeof(typename Types::b) == sizeof(E) && sizeof(T) == 4);
  static_assert(Config.warp.m % 16 == 0 && Config.warp.n % 16 == 0,
                "keramos: warp tiles are multiples of what is loaded at once, 16 x 16");
  static_assert(Config.block.k % (4 * chunk) == 0, "keramos: two sets of fragments take turns");

 public:
  /// Matrices are transposed where they are loaded, so panels may have either layout.
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
    if constexpr (bytes && !mma::template widens<E>) {  // whose kinds are part of the instruction
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
    const int first_row = m_ + row_of(lane_ / 4, 0), first_col = n_ + lane_ % 4 * lanes::neighbours;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) KERAMOS_UNROLL
    for (int v = 0; v < 2; ++v) {
      const int col = bytes ? j / 2 * 16 + j % 2 + 2 * v : j * 8 + v;
      f(first_row + i * 16 + row_of(0, half), first_col + col, acc_[i][j][half][v]);
    }
  }

  /// C passes through local memory, and takes these bytes of the k-tiles', which nobody reads any more.
  static constexpr bool writes_through_local = true;
  static constexpr std::size_t writing_bytes = Config.warps() * of_block::bytes;
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through(char* local, const gemm_problem<Types>& p,
                                                  const Position& at, const Epilogue& epilogue) const {
    const tile_window there(p, at);
    if constexpr (sizeof(C) != 2) {
      const bool whole = there.has(m_, n_) && there.has(m_ + Config.warp.m - 1, n_ + Config.warp.n - 1) &&
                         p.c_col_stride == 1 && p.c_row_stride % neighbours == 0 && at.n0 % neighbours == 0 &&
                         reinterpret_cast<std::uintptr_t>(p.c) % sizeof(run<C, neighbours>) == 0;
      if (whole)
        return reads_c<T>(epilogue) ? write_whole<true>(p, at, epilogue)
                                    : write_whole<false>(p, at, epilogue);
    }
    of_block(p, at, there, local + warp_ * of_block::bytes, lane_).update_fragments(epilogue, acc_, m_, n_);
  }

 private:
  static constexpr int neighbours = lanes::neighbours;

  /// Writes a tile that lies inside C, in aligned runs, from registers. A tile of few k-tiles takes longer to write than to
  /// multiply: f32 by way of local memory, as C of two bytes, is a fifth slower, and where C is read two thirds (bf16, H200,
  /// 4096 x 4096 x 256, tiles of 128 x 128).
  template <bool Reads, class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_whole(const gemm_problem<Types>& p, const Position& at,
                                                const Epilogue& epilogue) const {
    const index_t i0 = at.m0 + m_ + row_of(lane_ / 4, 0), j0 = at.n0 + n_ + lane_ % 4 * neighbours;
    C* const c = p.c + i0 * p.c_row_stride + j0;
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) KERAMOS_UNROLL
    for (int j = 0; j < fn; j += neighbours / 2) {
      const int row = i * 16 + row_of(0, half), col = j * 8;
      run<C, neighbours> x;
      C* const at_run = c + row * p.c_row_stride + col;
      if constexpr (Reads) x = load_at_once(reinterpret_cast<const run<C, neighbours>*>(at_run));
      KERAMOS_UNROLL
      for (int v = 0; v < neighbours; ++v) {
        const T sum = bytes ? acc_[i][j + v % 2][half][v / 2] : acc_[i][j][half][v];
        x.value[v] = Reads ? element_with_c(epilogue, p.place, sum, x.value[v], i0 + row, j0 + col + v)
                           : element_without_c<C>(epilogue, p.place, sum, i0 + row, j0 + col + v);
      }
      store_at_once(at_run, x);
    }
  }

  /// `Kinds` are those of the elements of A and of B, if there are several (tiling::reading) and instructions for them. A branch
  /// between the steps would be shorter, and took a quarter longer: what loads would no longer stand among the products.
  template <class Panels, class Next, class... Kinds>
  KERAMOS_FORCEINLINE_FUNCTION void multiply_as(const Panels& now, const Next& next, Kinds... kinds) {
    KERAMOS_UNROLL
    for (int s = 0; s < steps; ++s) {
      if (s + 1 < steps)  // the next fragments load while these multiply
        load((s + 1) % 2, now, s + 1);
      else
        load(0, next(), 0);
      if constexpr (bytes && mma::template widens<E>) {
        multiply_widened(s % 2, now.a.kind(), now.b.kind());
      } else {
        KERAMOS_UNROLL
        for (int i = 0; i < fm; ++i) KERAMOS_UNROLL
        for (int j = 0; j < fn; ++j) {
          const int column = back_and_forth(i, j);
          mma::template multiply_short<E>(acc_[i][column], a_frag_[s % 2][i], b_frag_[s % 2][column],
                                          kinds...);
        }
      }
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION static int back_and_forth(int i, int j) {  // neighbours share a fragment
    return i % 2 ? fn - 1 - j : j;
  }
  /// A step of elements that units multiply as float16s. A register of four along k becomes two of two; which columns of k
  /// these are does not matter, as long as it is the same in A and B.
  KERAMOS_FORCEINLINE_FUNCTION void multiply_widened(int set, bool kind_a, bool kind_b) {
    unsigned b[fn][2][2];
    KERAMOS_UNROLL
    for (int j = 0; j < fn; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 2; ++v) mma::widen(b[j][0][v], b[j][1][v], b_frag_[set][j][v], kind_b);
    KERAMOS_UNROLL
    for (int i = 0; i < fm; ++i) {
      unsigned a[2][4];
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) mma::widen(a[0][v], a[1][v], a_frag_[set][i][v], kind_a);
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) KERAMOS_UNROLL
      for (int j = 0; j < fn; ++j) {
        const int column = back_and_forth(i, j);
        mma::template multiply_short<float16>(acc_[i][column], a[half], b[column][half]);
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

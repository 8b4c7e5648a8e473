// From accumulators to C: runs of neighbouring columns through the epilogue, in one access where C allows it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// The rows and columns of a tile that are to be written: those inside C, but for the first ones of a tile that begins early.
struct tile_window {
  int row0 = 0, row1, col0 = 0, col1;

  template <class Types, class Position>
  KERAMOS_FORCEINLINE_FUNCTION tile_window(const gemm_problem<Types>& p, const Position& at)
      : row1(p.m - at.m0 < at.rows ? int(p.m - at.m0) : at.rows),
        col1(p.n - at.n0 < at.cols ? int(p.n - at.n0) : at.cols) {
    if constexpr (std::is_same_v<Position, tiling::shifted_position>) row0 = at.skip_m, col0 = at.skip_n;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool has_row(int row) const { return row >= row0 && row < row1; }
  KERAMOS_FORCEINLINE_FUNCTION bool has(int row, int col) const {
    return has_row(row) && col >= col0 && col < col1;
  }
  /// The row or column in the window that is nearest.
  KERAMOS_FORCEINLINE_FUNCTION int near_row(int row) const { return within(row, row0, row1 - 1); }
  KERAMOS_FORCEINLINE_FUNCTION int near_col(int col) const { return within(col, col0, col1 - 1); }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static int within(int x, int low, int high) {
    return x < low ? low : x > high ? high : x;
  }
};

/// Begins to bring the lines of C in a tile of Rows x Cols to the cache, if the epilogue reads them: so that they are there when
/// sums are. By `Threads` threads. Does nothing for parts of k, most of which do not write C, or where neither rows nor columns of
/// C are neighbours.
template <class Copier, int Rows, int Cols, int Threads, class Types, class Position, class Epilogue>
KERAMOS_FORCEINLINE_FUNCTION void prefetch_c(const gemm_problem<Types>& p, const Position& at, int thread,
                                             const Epilogue& epilogue) {
  if constexpr (requires { Copier::prefetch(p.c); }) {
    constexpr int of_line = 128 / int(sizeof(typename Types::c));
    const bool by_rows = p.c_col_stride == 1;
    if (!reads_c<typename Types::accumulator>(epilogue) || at.k1 - at.k0 != p.k ||
        (!by_rows && p.c_row_stride != 1))
      return;
    const tile_window there(p, at);
    const int lines = ((by_rows ? Cols : Rows) + of_line - 1) / of_line;
    KERAMOS_NO_UNROLL
    for (int n = thread; n < lines * (by_rows ? Rows : Cols); n += Threads) {
      const int across = n / lines, along = n % lines * of_line;
      const int i = by_rows ? across : along, j = by_rows ? along : across;
      if (there.has(i, j))
        Copier::prefetch(p.c + (at.m0 + i) * p.c_row_stride + (at.n0 + j) * p.c_col_stride);
    }
  }
}

/// Writes two rows of `Fragments` times eight columns of two bytes each, which four neighbouring lanes share: a lane has columns
/// 2t and 2t + 1 of each fragment, t = lane % 4, in words of four bytes. Where a row begins between two words, a lane takes
/// column 2t + 2 of the next one. `element(half, fragment, 0 or 1)` is what a lane has; `rows` are where column 0 is, and of
/// rows that are `there` the first `cols` columns are written. By all lanes of a warp.
template <class Atom, int Fragments, class C, class Element>
KERAMOS_FORCEINLINE_FUNCTION void write_in_words(C* const (&rows)[2], const bool (&there)[2], int lane,
                                                 int cols, const Element& element) {
  static_assert(sizeof(C) == 2);
  const int t = lane % 4;
  const auto bits = [](const C& x) {
    std::uint16_t b;
    ::memcpy(&b, &x, sizeof(b));
    return unsigned(b);
  };
  const auto first_columns = [&](int j) { return bits(element(0, j, 0)) | bits(element(1, j, 0)) << 16; };
  unsigned firsts = first_columns(0);
  KERAMOS_UNROLL
  for (int j = 0; j < Fragments; ++j) {
    const unsigned after = j + 1 < Fragments ? first_columns(j + 1) : 0;
    const unsigned next = Atom::from_lane(t == 0 ? after : firsts, lane - t + (t + 1) % 4);
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const unsigned first = firsts >> 16 * half & 0xffff, second = bits(element(half, j, 1));
      const bool between = reinterpret_cast<std::uintptr_t>(rows[half]) % 4 != 0;
      const unsigned low = between ? second : first, high = between ? next >> 16 * half & 0xffff : second;
      const int col = 8 * j + 2 * t + between;
      const auto store = [&](int at, unsigned x) {
        reinterpret_cast<std::uint16_t*>(rows[half])[at] = std::uint16_t(x);
      };
      if (!there[half]) continue;
      if (j == 0 && t == 0 && between && cols > 0) store(0, first);
      if (col + 1 < cols)
        *reinterpret_cast<unsigned*>(rows[half] + col) = low | high << 16;
      else if (col < cols)
        store(col, low);
    }
    firsts = after;
  }
}

/// Calls f(N), a constant, where N, below `Count`, is known at run time: registers have no addresses. What follows is then one
/// code for all N, which is much shorter than one for each.
template <class F, int... N>
KERAMOS_FORCEINLINE_FUNCTION void with_number(int number, const F& f, std::integer_sequence<int, N...>) {
  (void)((number == N && (f(std::integral_constant<int, N>()), true)) || ...);
}
template <int Count, class F>
KERAMOS_FORCEINLINE_FUNCTION void with_number(int number, const F& f) {
  if constexpr (Count == 1)
    f(std::integral_constant<int, 0>());
  else
    with_number(number, f, std::make_integer_sequence<int, Count>());
}

/// Writes runs of consecutive columns of C through the epilogue, as vectors where C allows them.
template <class Types, int Count, class Position>
class c_writer {
  using T = typename Types::accumulator;
  using C = typename Types::c;
  /// Whether a tile may hold rows and columns that it shall not write: that costs registers and comparisons.
  static constexpr bool shifted = std::is_same_v<Position, tiling::shifted_position>;

 public:
  /// Of a tile, in which elements are counted from row m and column n on. n is a multiple of `Count` for write().
  KERAMOS_FORCEINLINE_FUNCTION c_writer(const gemm_problem<Types>& p, const Position& at, int m = 0,
                                        int n = 0)
      : p_(p),
        m0_(at.m0 + m),
        n0_(at.n0 + n),
        first_(p.c + m0_ * p.c_row_stride + n0_ * p.c_col_stride),
        rows_((shifted && p.m - at.m0 < at.rows ? int(p.m - at.m0) : at.rows) - m),
        cols_((shifted && p.n - at.n0 < at.cols ? int(p.n - at.n0) : at.cols) - n),
        vectors_(p.c_col_stride == 1 && p.c_row_stride % Count == 0 && (!shifted || at.n0 % Count == 0) &&
                 reinterpret_cast<std::uintptr_t>(p.c) % sizeof(run<C, Count>) == 0) {
    if constexpr (shifted) row0_ = at.skip_m - m, col0_ = at.skip_n - n;
  }

  KERAMOS_FORCEINLINE_FUNCTION bool writes_vectors() const { return vectors_; }

  /// Whether all of the tile is whole vectors of C.
  KERAMOS_FORCEINLINE_FUNCTION bool writes_whole_vectors() const {
    return vectors_ && (cols_ | col0_) % Count == 0;
  }
  /// Columns j ... j + Count - 1 of row i of a C that is not read, if writes_whole_vectors(). Of 16 bytes by an instruction that is
  /// written out: ptxas splits other stores that have a condition in four (CUDA 13.0, sm_90; f32, 3501 x 3300 x 21 took 1.67 times
  /// as long on an H200).
  template <class Atom, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vector(int i, int j, const T (&acc)[Count],
                                                 const Epilogue& epilogue) const {
    run<C, Count> x;
    KERAMOS_UNROLL
    for (int v = 0; v < Count; ++v)
      x.value[v] = element_without_c<C>(epilogue, p_.place, acc[v], m0_ + i, n0_ + j + v);
    if constexpr (sizeof(x) == 16 && requires(unsigned(&w)[4]) { Atom::write_16_bytes(first_, w, true); }) {
      unsigned words[4];
      ::memcpy(words, &x, 16);
      Atom::write_16_bytes(first_ + i * p_.c_row_stride + j, words, has(i, j));
    } else if (has(i, j)) {
      store_at_once(first_ + i * p_.c_row_stride + j, x);
    }
  }

  /// Writes `Steps` times `Runs` runs through a caller's epilogue: `take(step, run, v)`, of constants, gives sums, `row(step)`
  /// and `col(run)` where a run begins. One code for all steps: code for each element would not fit the instruction cache, with
  /// GELU say. And no branch between runs, so that they are computed side by side.
  template <int Steps, int Runs, class Take, class Row, class Col, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_in_steps(const Take& take, const Row& row, const Col& col,
                                                   const Epilogue& epilogue) const {
    KERAMOS_NO_UNROLL
    for (int s = 0; s < Steps; ++s) {
      T sums[Runs][Count];
      with_number<Steps>(s, [&](auto number) KERAMOS_INLINED {
        KERAMOS_UNROLL
        for (int r = 0; r < Runs; ++r) KERAMOS_UNROLL
        for (int v = 0; v < Count; ++v) sums[r][v] = take(decltype(number)::value, r, v);
      });
      write_row(row(s), col, sums, epilogue);
    }
  }

  /// Several runs of row i, which begin at `col(run)`: if all of them are vectors of C they are read before any is written.
  template <int Runs, class Col, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_row(int i, const Col& col, const T (&sums)[Runs][Count],
                                              const Epilogue& epilogue) const {
    bool all = vectors_ && !before_row(i) && i < rows_;
    KERAMOS_UNROLL
    for (int r = 0; r < Runs; ++r) all = all && !before_col(col(r)) && col(r) + Count <= cols_;
    if (all) {
      write_vectors(i, col, sums, epilogue);
    } else {
      KERAMOS_UNROLL
      for (int r = 0; r < Runs; ++r) write(i, col(r), sums[r], epilogue);
    }
  }

  /// Columns j ... j + Count - 1 of row i.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(int i, int j, const T (&acc)[Count],
                                          const Epilogue& epilogue) const {
    if (before_row(i) || i >= rows_) return;
    const index_t gi = m0_ + i, gj = n0_ + j;
    C* const c = first_ + i * p_.c_row_stride + j * p_.c_col_stride;
    if (vectors_ && !before_col(j) && j + Count <= cols_) {
      using vector = run<C, Count>;
      vector out;
      if (reads_c<T>(epilogue)) {
        const vector old = *reinterpret_cast<const vector*>(c);
        KERAMOS_UNROLL
        for (int v = 0; v < Count; ++v)
          out.value[v] = element_with_c(epilogue, p_.place, acc[v], old.value[v], gi, gj + v);
      } else {
        KERAMOS_UNROLL
        for (int v = 0; v < Count; ++v)
          out.value[v] = element_without_c<C>(epilogue, p_.place, acc[v], gi, gj + v);
      }
      *reinterpret_cast<vector*>(c) = out;
    } else {
      KERAMOS_UNROLL
      for (int v = 0; v < Count; ++v) {
        if (!shifted && j + v >= cols_) break;
        if (before_col(j + v) || j + v >= cols_) continue;
        write_element(epilogue, p_.place, acc[v], c[v * p_.c_col_stride], gi, gj + v);
      }
    }
  }

 private:
  /// Runs of a row that are all there, in C too.
  template <int Runs, class Col, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(int i, const Col& col, const T (&sums)[Runs][Count],
                                                  const Epilogue& epilogue) const {
    using vector = run<C, Count>;
    C* const c = first_ + i * p_.c_row_stride;
    vector x[Runs];
    if (reads_c<T>(epilogue)) {
      KERAMOS_UNROLL
      for (int r = 0; r < Runs; ++r) x[r] = *reinterpret_cast<const vector*>(c + col(r));
      KERAMOS_UNROLL
      for (int r = 0; r < Runs; ++r) KERAMOS_UNROLL
      for (int v = 0; v < Count; ++v)
        x[r].value[v] =
            element_with_c(epilogue, p_.place, sums[r][v], x[r].value[v], m0_ + i, n0_ + col(r) + v);
    } else {
      KERAMOS_UNROLL
      for (int r = 0; r < Runs; ++r) KERAMOS_UNROLL
      for (int v = 0; v < Count; ++v)
        x[r].value[v] = element_without_c<C>(epilogue, p_.place, sums[r][v], m0_ + i, n0_ + col(r) + v);
    }
    KERAMOS_UNROLL
    for (int r = 0; r < Runs; ++r) *reinterpret_cast<vector*>(c + col(r)) = x[r];
  }
  /// Whether it is to be written: one condition, not several branches.
  KERAMOS_FORCEINLINE_FUNCTION bool has(int i, int j) const {
    return bool(int(is_in(i, row0_, rows_)) & int(is_in(j, col0_, cols_)));
  }
  /// In a tile that begins early, end - begin is positive.
  KERAMOS_FORCEINLINE_FUNCTION static bool is_in(int x, int begin, int end) {
    return shifted ? unsigned(x - begin) < unsigned(end - begin) : x < end;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool before_row(int i) const { return shifted && i < row0_; }
  KERAMOS_FORCEINLINE_FUNCTION bool before_col(int j) const { return shifted && j < col0_; }

  const gemm_problem<Types>& p_;
  index_t m0_, n0_;                        // the place of element (0, 0) in C
  C* first_;                               // its address
  int row0_ = 0, rows_, col0_ = 0, cols_;  // where what is to be written begins and ends
  bool vectors_;
};

}  // namespace keramos::detail::simt

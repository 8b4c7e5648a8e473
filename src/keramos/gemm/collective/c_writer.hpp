// From accumulators to C: runs of neighbouring columns through the epilogue, in one access where C allows it.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

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
    std::memcpy(&b, &x, sizeof(b));
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

/// Writes runs of consecutive columns of C through the epilogue, as vectors where C allows them.
template <class Types, int Count, class Position>
class c_writer {
  using T = typename Types::accumulator;
  using C = typename Types::c;
  /// Whether a tile may hold rows and columns that it shall not write: that costs registers and comparisons.
  static constexpr bool shifted = std::is_same_v<Position, tiling::shifted_position>;

 public:
  KERAMOS_FORCEINLINE_FUNCTION c_writer(const gemm_problem<Types>& p, const Position& at)
      : p_(p),
        at_(at),
        rows_(shifted && p.m - at.m0 < at.rows ? int(p.m - at.m0) : at.rows),
        cols_(shifted && p.n - at.n0 < at.cols ? int(p.n - at.n0) : at.cols),
        vectors_(p.c_col_stride == 1 && p.c_row_stride % Count == 0 && (!shifted || at.n0 % Count == 0) &&
                 reinterpret_cast<std::uintptr_t>(p.c) % sizeof(run<C, Count>) == 0) {}

  KERAMOS_FORCEINLINE_FUNCTION bool writes_vectors() const { return vectors_; }

  /// Columns j ... j + Count - 1 of row i of the tile.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(int i, int j, const T (&acc)[Count],
                                          const Epilogue& epilogue) const {
    if (before_row(i) || i >= rows_) return;
    const index_t gi = at_.m0 + i, gj = at_.n0 + j;
    C* c = p_.c + gi * p_.c_row_stride + gj * p_.c_col_stride;
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
  KERAMOS_FORCEINLINE_FUNCTION bool before_row([[maybe_unused]] int i) const {
    if constexpr (shifted)
      return i < at_.skip_m;
    else
      return false;
  }
  KERAMOS_FORCEINLINE_FUNCTION bool before_col([[maybe_unused]] int j) const {
    if constexpr (shifted)
      return j < at_.skip_n;
    else
      return false;
  }

  const gemm_problem<Types>& p_;
  const Position& at_;
  int rows_, cols_;  // of the tile inside C
  bool vectors_;
};

}  // namespace keramos::detail::simt

// Sums of a warp in local memory, on their way to a C that takes no vectors: there each lane finds sums that are neighbours, in
// C's memory, of those of the next lane.
#pragma once

#include <algorithm>

#include <keramos/backends/interface.hpp>
#include <keramos/base/index.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

/// Whether the lanes of a warp can wait for each other, and a compiler can be kept from computing ahead.
template <class Exec>
concept meets_in_warps = requires {
  backend::mma<Exec>::meet_warp();
  backend::mma<Exec>::any_in_warp(true);
  backend::mma<Exec>::opaque(1);
};

/// Rows x Columns sums. `Across` lanes share a row; each has runs of 16 bytes of it, and of as many rows that follow each other as
/// a run has sums. All of these numbers are powers of two. `InRuns`: sums are stored in runs, so that they have neighbouring
/// registers, not one by one. `AtOnce` elements of C are read before any is written.
template <class Types, int Rows, int Columns, int Across, bool InRuns, int AtOnce, class Exec>
class sum_block {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr int warp_size = backend::traits<Exec>::warp_size;
  static constexpr int size = int(sizeof(T)), run_length = 16 / size;
  static constexpr int row_bytes = Columns * size;
  static constexpr int line_bytes = 128;  ///< a line has each bank of local memory once
  static constexpr int sums_of_line = line_bytes / size, rows_of_line = std::max(line_bytes / row_bytes, 1);
  static constexpr int rows_at_once =
      warp_size / Columns;  ///< of which lanes that follow each other write elements
  static constexpr int rows_of_lanes = std::min(Rows, warp_size), columns_at_once = warp_size / rows_of_lanes;
  static_assert(warp_size == 32 && Columns <= 32 && row_bytes >= 16);
  static_assert(rows_of_line <= run_length && (InRuns || Across * run_length <= sums_of_line));

 public:
  static constexpr int bytes = Rows * row_bytes;  ///< of local memory, at a multiple of 16

  /// Of a tile. `local` is the warp's.
  template <class Position>
  KERAMOS_FORCEINLINE_FUNCTION sum_block(const gemm_problem<Types>& p, const Position& at, char* local,
                                         int lane)
      : p_(p),
        there_(p, at),
        m0_(at.m0),
        n0_(at.n0),
        local_(local),
        lane_(lane),
        by_rows_(atom::any_in_warp(distance(p.c_col_stride) <= distance(p.c_row_stride))) {}

  /// Where the lane stores a run that begins at (row, col) of the block, for store().
  KERAMOS_FORCEINLINE_FUNCTION static int place(int row, int col) { return offset(row, col); }
  /// Stores the run `down` rows and `right` columns from a place: numbers whose bits are not those of the place.
  KERAMOS_FORCEINLINE_FUNCTION void store(int place, int down, int right, const T (&sums)[run_length]) const {
    if constexpr (InRuns) {
      run<T, run_length> x;
      KERAMOS_UNROLL
      for (int v = 0; v < run_length; ++v) x.value[v] = sums[v];
      *reinterpret_cast<run<T, run_length>*>(local_ + (place ^ offset(down, right))) = x;
    } else {
      KERAMOS_UNROLL
      for (int v = 0; v < run_length; ++v)
        *reinterpret_cast<T*>(local_ + (place ^ offset(down, right + v))) = sums[v];
    }
  }

  /// Updates C from (row0, col0) of the tile on, once all lanes have stored. Then they may store again.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(int row0, int col0, const Epilogue& epilogue) const {
    atom::meet_warp();
    write_lines(row0, col0, epilogue);
    atom::meet_warp();
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static index_t distance(index_t stride) {
    return stride < 0 ? -stride : stride;
  }

  /// Where a sum is. The sums of a line, or its runs, change places so that lanes that store at once, and lanes that load a row, use
  /// different banks; few of those that load a column use the same. It is linear under exclusive or: for rows, and columns, that
  /// have no bit in common, offset(a + b) is offset(a) ^ offset(b).
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int offset(int row, int col) {
    const int run = row / run_length, row_of_run = row % run_length;  // of rows
    int moved;
    if constexpr (InRuns) {
      constexpr int across = Across < 4 ? Across : 4, runs_of_line = sums_of_line / run_length;
      moved = (run % (runs_of_line / across) * across ^ row / rows_of_line % across) * run_length;
    } else {
      constexpr int across = Across * run_length;
      moved = run % run_length ^ row_of_run / rows_of_line * run_length ^
              run / run_length % (sums_of_line / across) * across;
    }
    return (row * row_bytes + col * size) ^ moved * size;
  }

  /// Lanes that follow each other write elements of a row that do, or of a column.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_lines(int row0, int col0, const Epilogue& epilogue) const {
    constexpr int rows = rows_of_lanes, count = rows * Columns / warp_size;
    static_assert(count % AtOnce == 0);
    const bool by_rows = by_rows_;
    // The first of a lane's elements, and the n-th one as seen from there: along a column where lanes follow each other in a row.
    const int row = by_rows ? lane_ / Columns : lane_ % rows, col = by_rows ? lane_ % Columns : lane_ / rows;
    const auto down = [by_rows](int n) { return by_rows ? n * rows_at_once : 0; };
    const auto right = [by_rows](int n) { return by_rows ? 0 : n * columns_at_once; };
    const index_t to_next = by_rows ? rows_at_once * p_.c_row_stride : columns_at_once * p_.c_col_stride;
    KERAMOS_UNROLL
    for (int block = 0; block < Rows; block += rows) {
      const int i = row0 + row + block, j = col0 + col;
      const bool is_line_there =
          by_rows ? has(j, there_.col0, there_.col1) : has(i, there_.row0, there_.row1);
      const int begin = by_rows ? there_.row0 - i : there_.col0 - j,
                end = is_line_there ? (by_rows ? there_.row1 - i : there_.col1 - j) : 0;
      C* c = p_.c + (m0_ + i) * p_.c_row_stride + (n0_ + j) * p_.c_col_stride;
      const int first = offset(row, col) ^ offset(block, 0);
      KERAMOS_NO_UNROLL
      for (int number = 0; number < count; number += AtOnce) {
        const int at = first ^ offset(down(number), right(number));
        C old[AtOnce];
        if (reads_c<T>(epilogue)) {
          const C* from = c;
          KERAMOS_UNROLL
          for (int v = 0; v < AtOnce; ++v) {
            old[v] = has(down(number + v) + right(number + v), begin, end) ? *from : C();
            from += to_next;
          }
        }
        KERAMOS_UNROLL
        for (int v = 0; v < AtOnce; ++v) {
          const int rows_on = down(number + v), cols_on = right(number + v);
          const T sum = *reinterpret_cast<const T*>(
              local_ + (at ^ (by_rows ? offset(v * rows_at_once, 0) : offset(0, v * columns_at_once))));
          const index_t gi = m0_ + i + rows_on, gj = n0_ + j + cols_on;
          if (has(rows_on + cols_on, begin, end))
            *c = reads_c<T>(epilogue) ? element_with_c(epilogue, p_.place, sum, old[v], gi, gj)
                                      : element_without_c<C>(epilogue, p_.place, sum, gi, gj);
          c += to_next;
        }
      }
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION static bool has(int x, int begin, int end) {
    return bool(int(x >= begin) & int(x < end));
  }

  const gemm_problem<Types>& p_;
  tile_window there_;
  index_t m0_, n0_;
  char* local_;
  int lane_;
  bool by_rows_;  ///< whether elements of a row of C are nearer to each other than those of a column
};

}  // namespace keramos::detail::simt

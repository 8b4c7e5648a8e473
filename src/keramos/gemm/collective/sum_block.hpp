// Sums of a warp in local memory, on their way to C: there each lane finds sums that are neighbours, in C's memory, of those of
// the next lane. And the registers that had them are free for elements of C, many of which are read at once.
#pragma once

#include <algorithm>
#include <cstdint>

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

/// How many of its rows each of so many warps stores at once, from `most`, a power of two, down to `least`, so that local memory
/// has room for them; with `least` there may be none. The fewer times, the less code. `room` is that of k-tiles.
constexpr int rows_stored(int most, int least, int warps, int row_bytes, int room) {
  int rows = most;
  while (rows > least && rows * warps * row_bytes > room) rows /= 2;
  return rows;
}
template <class Types>
constexpr int k_tile_bytes(const tiling::config& c) {
  return c.stages * c.block.k *
         (c.block.m * int(sizeof(typename Types::a)) + c.block.n * int(sizeof(typename Types::b)));
}

/// Rows of sums of `Bytes` each in local memory, whose banks a line of 128 bytes has once each. They have no padding: in each row
/// sums change places instead, by exclusive or of a sum's column and moved(row). All of these numbers are powers of two.
template <int Columns, int Bytes>
struct sum_rows {
  static constexpr int run_length = 16 / Bytes, row_bytes = Columns * Bytes;
  static constexpr int sums_of_line = 128 / Bytes, rows_of_line = std::max(128 / row_bytes, 1);
  static_assert(Columns <= 32 && row_bytes >= 16);
};

/// For FMA units: `Across` lanes share a row; each has runs of 16 bytes of it, and of as many rows that follow each other as a run
/// has sums. `InRuns`: sums are stored in runs, so that they have neighbouring registers, not one by one.
template <int Columns, int Bytes, int Across, bool InRuns>
struct places_of_runs : sum_rows<Columns, Bytes> {
  using rows = sum_rows<Columns, Bytes>;
  static constexpr bool in_runs = InRuns;
  static_assert(rows::rows_of_line <= rows::run_length &&
                (InRuns || Across * rows::run_length <= rows::sums_of_line));

  KERAMOS_FORCEINLINE_FUNCTION static constexpr int moved(int row) {
    constexpr int run_length = rows::run_length;
    const int run = row / run_length, row_of_run = row % run_length;  // of rows
    if constexpr (InRuns) {
      constexpr int across = Across < 4 ? Across : 4, runs_of_line = rows::sums_of_line / run_length;
      return (run % (runs_of_line / across) * across ^ row / rows::rows_of_line % across) * run_length;
    } else {
      constexpr int across = Across * run_length;
      return run % run_length ^ row_of_run / rows::rows_of_line * run_length ^
             run / run_length % (rows::sums_of_line / across) * across;
    }
  }
};

/// For matrix units: four lanes share eight doubles of a row, a run each, and the warp has eight rows.
template <int Columns>
struct places_of_fragments : sum_rows<Columns, 8> {
  static constexpr bool in_runs = true;

  KERAMOS_FORCEINLINE_FUNCTION static constexpr int moved(int row) {
    // Two rows that are stored at once take half a line each.
    return (Columns > 8 ? row % 2 * 8 : 0) ^ row / 2 % 4 * 2;
  }
};

/// Rows x Columns sums, which lie where `Places` says. `AtOnce` elements of C are read before any is written, or half as many
/// vectors.
template <class Types, int Rows, int Columns, class Places, int AtOnce, class Exec>
class sum_block {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr int warp_size = backend::traits<Exec>::warp_size;
  static constexpr int size = int(sizeof(T)), run_length = Places::run_length;
  static constexpr int row_bytes = Places::row_bytes;
  static constexpr int rows_at_once =
      warp_size / Columns;  ///< of which lanes that follow each other write elements
  static constexpr int rows_of_lanes = std::min(Rows, warp_size), columns_at_once = warp_size / rows_of_lanes;
  // (Here, since nvcc lets no code of a device call std::min.)
  static constexpr int elements_of_lane = rows_of_lanes * Columns / warp_size,
                       elements_at_once = std::min(elements_of_lane, AtOnce);
  static constexpr int vectors_of_row = Columns / run_length,
                       vectors_at_once = std::min(Rows * vectors_of_row / warp_size, AtOnce / 2);
  static_assert(warp_size == 32 && run_length * size == 16);

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
        by_vectors_(atom::any_in_warp(takes_vectors())),
        by_rows_(atom::any_in_warp(distance(p.c_col_stride) <= distance(p.c_row_stride))) {}

  /// Where the lane stores a run that begins at (row, col) of the block, for store().
  KERAMOS_FORCEINLINE_FUNCTION static int place(int row, int col) { return offset(row, col); }
  /// Stores the run `down` rows and `right` columns from a place: numbers whose bits are not those of the place.
  KERAMOS_FORCEINLINE_FUNCTION void store(int place, int down, int right, const T (&sums)[run_length]) const {
    if constexpr (Places::in_runs) {
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
    if (by_vectors_)
      write_vectors(row0, col0, epilogue);
    else
      write_lines(row0, col0, epilogue);
    atom::meet_warp();
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION static index_t distance(index_t stride) {
    return stride < 0 ? -stride : stride;
  }

  /// Whether the tile's rows of C are whole vectors of as many elements as a run has sums.
  KERAMOS_FORCEINLINE_FUNCTION bool takes_vectors() const {
    return p_.c_col_stride == 1 &&
           ((p_.c_row_stride | n0_ | index_t(there_.col0 | there_.col1)) % run_length) == 0 &&
           reinterpret_cast<std::uintptr_t>(p_.c) % sizeof(run<C, run_length>) == 0;
  }

  /// Where a sum is. It is linear under exclusive or: for rows, and columns, that have no bit in common, offset(a + b) is
  /// offset(a) ^ offset(b).
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int offset(int row, int col) {
    return (row * row_bytes + col * size) ^ Places::moved(row) * size;
  }

  /// Lanes that follow each other write vectors of a row that do.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(int row0, int col0, const Epilogue& epilogue) const {
    using vector = run<C, run_length>;
    constexpr int across = vectors_of_row, rows = warp_size / across, count = Rows / rows,
                  at_once = vectors_at_once;
    static_assert(count % at_once == 0);
    // Sums that are stored one by one change places in their runs, too: those of each `number` alike.
    static_assert(Places::in_runs || rows == run_length);
    const int row = lane_ / across, col = lane_ % across * run_length;
    const int begin = there_.row0 - row0 - row;
    const unsigned length =
        has(col0 + col, there_.col0, there_.col1) ? unsigned(there_.row1 - there_.row0) : 0u;
    const index_t gi = m0_ + row0 + row, gj = n0_ + col0 + col;
    const index_t to_next = rows * p_.c_row_stride;
    C* c = p_.c + gi * p_.c_row_stride + gj;
    const int first = offset(row, col);
    KERAMOS_NO_UNROLL
    for (int number = 0; number < count; number += at_once) {
      const int at = first ^ offset(number * rows, 0);
      run<T, run_length> sums[at_once];
      bool there[at_once];
      KERAMOS_UNROLL
      for (int v = 0; v < at_once; ++v) {
        sums[v] = *reinterpret_cast<const run<T, run_length>*>(local_ + ((at ^ offset(v * rows, 0)) & -16));
        there[v] = unsigned((number + v) * rows - begin) < length;
      }
      if constexpr (!Places::in_runs) {
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v) put_in_place<at_once>(sums[v].value, number, v);
      }
      if (reads_c<T>(epilogue)) {
        vector old[at_once];
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v)
          old[v] = there[v] ? *reinterpret_cast<const vector*>(c + v * to_next) : vector();
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v) {
          if (!there[v]) continue;
          KERAMOS_UNROLL
          for (int e = 0; e < run_length; ++e)
            old[v].value[e] = element_with_c(epilogue, p_.place, sums[v].value[e], old[v].value[e],
                                             gi + (number + v) * rows, gj + e);
          *reinterpret_cast<vector*>(c + v * to_next) = old[v];
        }
      } else {
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v) {
          if (!there[v]) continue;
          vector x;
          KERAMOS_UNROLL
          for (int e = 0; e < run_length; ++e)
            x.value[e] =
                element_without_c<C>(epilogue, p_.place, sums[v].value[e], gi + (number + v) * rows, gj + e);
          *reinterpret_cast<vector*>(c + v * to_next) = x;
        }
      }
      c += at_once * to_next;
    }
  }

  /// Run number + v of a block: back to the places that its sums had before moved() changed those within runs. Only `v`, below
  /// `Known`, is a constant.
  template <int Known>
  KERAMOS_FORCEINLINE_FUNCTION static void put_in_place(T (&x)[run_length], int number, int v) {
    const auto swap = [&x](int bit, bool moved) KERAMOS_INLINED {
      KERAMOS_UNROLL
      for (int e = 0; e < run_length; ++e) {
        if ((e & bit) != 0) continue;
        const T low = x[e], high = x[e + bit];
        x[e] = moved ? high : low;
        x[e + bit] = moved ? low : high;
      }
    };
    KERAMOS_UNROLL
    for (int bit = 1; bit < run_length; bit *= 2) swap(bit, ((bit < Known ? v : number) & bit) != 0);
  }

  /// Lanes that follow each other write elements of a row that do, or of a column.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_lines(int row0, int col0, const Epilogue& epilogue) const {
    constexpr int rows = rows_of_lanes, count = elements_of_lane, at_once = elements_at_once;
    static_assert(count % at_once == 0);
    const bool by_rows = by_rows_;
    // The first of a lane's elements, and the n-th one as seen from there: along a column where lanes follow each other in a row.
    const int row = by_rows ? lane_ / Columns : lane_ % rows, col = by_rows ? lane_ % Columns : lane_ / rows;
    const auto down = [by_rows](int n) { return by_rows ? n * rows_at_once : 0; };
    const auto right = [by_rows](int n) { return by_rows ? 0 : n * columns_at_once; };
    const index_t to_next = by_rows ? rows_at_once * p_.c_row_stride : columns_at_once * p_.c_col_stride;
    KERAMOS_NO_UNROLL
    for (int block = 0; block < Rows; block += rows) {
      const int i = row0 + row + block, j = col0 + col;
      const bool is_line_there =
          by_rows ? has(j, there_.col0, there_.col1) : has(i, there_.row0, there_.row1);
      const int begin = by_rows ? there_.row0 - i : there_.col0 - j;
      const unsigned length = !is_line_there ? 0u
                              : by_rows      ? unsigned(there_.row1 - there_.row0)
                                             : unsigned(there_.col1 - there_.col0);
      C* c = p_.c + (m0_ + i) * p_.c_row_stride + (n0_ + j) * p_.c_col_stride;
      const int first = offset(row, col) ^ offset(block, 0);
      KERAMOS_NO_UNROLL
      for (int number = 0; number < count; number += at_once) {
        const int at = first ^ offset(down(number), right(number));
        T sums[at_once];
        bool there[at_once];
        KERAMOS_UNROLL
        for (int v = 0; v < at_once; ++v) {
          sums[v] = *reinterpret_cast<const T*>(
              local_ + (at ^ (by_rows ? offset(v * rows_at_once, 0) : offset(0, v * columns_at_once))));
          there[v] = unsigned(down(number + v) + right(number + v) - begin) < length;
        }
        const auto write = [&](const auto& element) KERAMOS_INLINED {
          KERAMOS_UNROLL
          for (int v = 0; v < at_once; ++v) {
            if (there[v]) *c = element(v, m0_ + i + down(number + v), n0_ + j + right(number + v));
            c += to_next;
          }
        };
        if (reads_c<T>(epilogue)) {
          C old[at_once];
          const C* from = c;
          KERAMOS_UNROLL
          for (int v = 0; v < at_once; ++v) {
            old[v] = there[v] ? *from : C();
            from += to_next;
          }
          write([&](int v, index_t gi, index_t gj)
                    KERAMOS_INLINED { return element_with_c(epilogue, p_.place, sums[v], old[v], gi, gj); });
        } else {
          write([&](int v, index_t gi, index_t gj)
                    KERAMOS_INLINED { return element_without_c<C>(epilogue, p_.place, sums[v], gi, gj); });
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
  bool by_vectors_;  ///< whether they are written in vectors
  bool by_rows_;     ///< whether elements of a row of C are nearer to each other than those of a column
};

}  // namespace keramos::detail::simt

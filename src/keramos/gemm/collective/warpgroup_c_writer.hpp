// How the sums that a warpgroup has in its threads' registers become C: in blocks that pass through local memory, or in vectors
// that lanes exchange.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_block.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/lane_exchange.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/collective/warpgroup_bytes.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Those of threads that load A along m: two neighbouring rows are one load, and those of half a warp are in different banks of
/// line_panel.
struct loading_lanes {
  static constexpr int neighbours = 2, second = 1, gap = 8;
  KERAMOS_FORCEINLINE_FUNCTION static int row(int lane) {
    const int group = lane / 4;
    return group / 4 * 4 + group / 2 % 2 * 8 + group % 2 * 2;
  }
};

/// Which two rows of each 64 a thread has.
template <bool LoadsA>
struct warpgroup_rows {
  using lanes = std::conditional_t<LoadsA, loading_lanes, fragment_lanes>;
  static constexpr int second = lanes::second;  ///< so far behind the first

  /// The first row of a warp.
  KERAMOS_FORCEINLINE_FUNCTION static int of_warp(int warp) {
    return LoadsA ? warp / 2 * 32 + warp % 2 * 8 : warp * 16;
  }
  KERAMOS_FORCEINLINE_FUNCTION static int first(int thread) {
    const int row = lanes::row(thread % 32);
    return of_warp(thread / 32) + row + row / 8 * lanes::gap;
  }
};

/// Writes 64 x N sums of a warpgroup: BLAS' update in vectors that lanes exchange, if C takes them and has elements of two or four
/// bytes; else by blocks. Where C takes no vectors one code does so for all of them: code for each, of every length of words,
/// would be four times the rest of the kernel. A caller's epilogue is in that code only too: GELU for each of 128 elements would
/// be 100 KB, and not fit the instruction cache.
template <class Types, int N, class Exec, bool LoadsA>
struct warpgroup_c_writer {
  using T = typename Types::accumulator;
  using C = typename Types::c;

  const gemm_problem<Types>& p;
  const tiling::position& at;
  const tile_window& there;
  const T (&sums)[N / 2];  ///< of a thread: (fragment, half of its rows, column)
  int thread;              ///< of those that multiply
  char* local;             ///< bytes_of_c_row for each row

 private:
  using rows = warpgroup_rows<LoadsA>;
  static constexpr int columns = columns_of_c_block<C, N>, count = N / columns;  ///< of blocks
  using block = c_block<Types, columns, typename rows::lanes, Exec>;
  using atom = backend::mma<Exec>;

  /// A block's vectors of a lane: one in each of its two rows.
  struct lane_vectors {
    unsigned words[2][4];
  };
  /// So many blocks are read before one is written. Eight spilled beside 128 sums (sm_90, ptxas of CUDA 13.0), and two beside 32
  /// sums or what is loaded of A.
  static constexpr int most_ahead = N < 128 || LoadsA ? 1 : 4,
                       ahead = count < most_ahead ? count : most_ahead;

 public:
  /// The first blocks of C, if they were read before sums were done.
  struct first_blocks {
    lane_vectors of[ahead];
    bool are_read = false;
  };
  /// Reads them, if C takes vectors. For epilogues with exchanges_vectors, if they read C.
  KERAMOS_FORCEINLINE_FUNCTION void read(first_blocks& first) const {
    first.are_read = block_of_warp().takes_vectors();
    if (first.are_read) read_first(first);
  }
  /// Whether lanes exchange vectors of a C that takes them.
  template <class Epilogue>
  static constexpr bool exchanges_vectors = sizeof(C) >= 2 && is_linear<Epilogue>;

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const Epilogue& epilogue,
                                          [[maybe_unused]] first_blocks& first) const {
    static_assert(block::bytes <= 16 * bytes_of_c_row);
    const int row0 = rows::of_warp(thread / 32);
    const block c = block_of_warp();
    if constexpr (LoadsA)
      if (takes_pairs_of_rows())
        return reads_c<T>(epilogue) ? write_pairs_of_rows<true>(epilogue)
                                    : write_pairs_of_rows<false>(epilogue);
    if constexpr (is_linear<Epilogue>) {
      if (c.takes_vectors()) {
        // All blocks for one answer: code that is skipped in each of them would be as many waits for the code behind it.
        if constexpr (exchanges_vectors<Epilogue>)
          return reads_c<T>(epilogue) ? write_vectors<true>(epilogue, first)
                                      : write_vectors<false>(epilogue, first);
        else if constexpr (count > 2)
          return reads_c<T>(epilogue) ? update_all(c, epilogue, true) : update_all(c, epilogue, false);
      }
    }
    const auto take_block = [&](T(&few)[columns / 2], int b) KERAMOS_INLINED { take(few, b); };
    const auto row = [&](int) { return row0; };
    const auto col = [](int b) { return b * columns; };
    if constexpr (!is_linear<Epilogue>)
      if (c.takes_vectors()) return c.template update_each<count, true>(epilogue, take_block, row, col);
    c.template update_each<count>(epilogue, take_block, row, col);
  }

 private:
  KERAMOS_FORCEINLINE_FUNCTION block block_of_warp() const {
    return block(p, at, there, local + thread / 32 * block::bytes, thread % 32);
  }

  /// The sums of block b.
  KERAMOS_FORCEINLINE_FUNCTION void take(T (&few)[columns / 2], int b) const {
    KERAMOS_UNROLL
    for (int s = 0; s < columns / 2; ++s) few[s] = sums[b * columns / 2 + s];
  }

  /// Whether two neighbouring rows are neighbours in memory, aligned, and both there or none.
  KERAMOS_FORCEINLINE_FUNCTION bool takes_pairs_of_rows() const {
    return p.c_row_stride == 1 && ((p.c_col_stride | at.m0 | there.row0 | there.row1) * index_t(sizeof(C)) |
                                   index_t(reinterpret_cast<std::uintptr_t>(p.c))) %
                                          index_t(sizeof(run<C, 2>)) ==
                                      0;
  }
  /// Each lane writes its two rows of a column, and reads those of some columns before. Products are transposed for A to be loaded,
  /// so that this is C of NN in row-major order.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_pairs_of_rows(const Epilogue& epilogue) const {
    static_assert(rows::second == 1);
    // Opaque: else what follows from the thread would be computed, and spilled, before products are summed.
    const int own = atom::opaque(thread);
    const int row = rows::first(own), first_col = own % 4 * 2;
    const index_t i = at.m0 + row;
    C* const c = p.c + i + (at.n0 + first_col) * p.c_col_stride;
    using pair = run<C, 2>;
    // Fragments; one code for all steps, as above.
    constexpr int at_once = is_linear<Epilogue> && !Reads ? N / 8 : 4;
    const auto at_pair = [&](int f, int v) KERAMOS_INLINED {
      return reinterpret_cast<pair*>(c + (f * 8 + v) * p.c_col_stride);
    };
    const auto has = [&](int f, int v) KERAMOS_INLINED { return there.has(row, first_col + f * 8 + v); };
    KERAMOS_NO_UNROLL
    for (int first = 0; first < N / 8; first += at_once) {
      T few[at_once][2][2];  // (fragment, half of its rows, column)
      with_number<N / 8 / at_once>(first / at_once, [&](auto number) KERAMOS_INLINED {
        KERAMOS_UNROLL
        for (int s = 0; s < at_once * 4; ++s)
          few[s / 4][s / 2 % 2][s % 2] = sums[decltype(number)::value * at_once * 4 + s];
      });
      [[maybe_unused]] pair old[at_once][2] = {};
      if constexpr (Reads) {
        KERAMOS_UNROLL
        for (int f = 0; f < at_once; ++f) KERAMOS_UNROLL
        for (int v = 0; v < 2; ++v)
          if (has(first + f, v)) old[f][v] = *at_pair(first + f, v);
      }
      KERAMOS_UNROLL
      for (int f = 0; f < at_once; ++f) KERAMOS_UNROLL
      for (int v = 0; v < 2; ++v) {
        if (!has(first + f, v)) continue;
        const index_t j = at.n0 + first_col + (first + f) * 8 + v;
        pair two;
        KERAMOS_UNROLL
        for (int half = 0; half < 2; ++half) {
          const T sum = few[f][half][v];
          if constexpr (Reads)
            two.value[half] = element_with_c(epilogue, p.place, sum, old[f][v].value[half], i + half, j);
          else
            two.value[half] = element_without_c<C>(epilogue, p.place, sum, i + half, j);
        }
        *at_pair(first + f, v) = two;
      }
    }
  }

  /// All blocks by way of local memory, of a C that takes vectors.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void update_all(const block& c, const Epilogue& epilogue, bool reads) const {
    T few[columns / 2];
    KERAMOS_UNROLL
    for (int b = 0; b < count; ++b) {
      take(few, b);
      c.template update<true>(epilogue, reads, few, rows::of_warp(thread / 32), b * columns);
    }
  }

  /// BLAS' update of C that takes vectors. (By way of local memory a warp waits between one block of C and the next: a tile of
  /// 128 x 256 of four bytes takes half a microsecond longer.)
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const Epilogue& epilogue, first_blocks& first) const {
    if (Reads && !first.are_read) read_first(first);
    KERAMOS_UNROLL
    for (int b = 0; b < count; ++b) {
      T few[columns / 2];
      take(few, b);
      lane_vectors old{};
      if constexpr (Reads) {
        old = first.of[b % ahead];
        if (b + ahead < count) read_vectors(first.of[b % ahead], (b + ahead) * columns);
      }
      write_vectors_of<Reads>(epilogue, few, old, b * columns);
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION void read_first(first_blocks& first) const {
    KERAMOS_UNROLL
    for (int b = 0; b < ahead; ++b) read_vectors(first.of[b], b * columns);
  }

  /// Lanes with the columns of a vector: each has neighbours of as many fragments.
  static constexpr int lanes = columns / 8;
  using two = std::conditional_t<sizeof(C) == 4, std::uint64_t, std::uint32_t>;  // neighbours

  /// `f(half, there, vector)` for both rows of a lane, of the block that begins with column `col`.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(int col, const F& f) const {
    const int lane = thread % 32;
    const int row0 = rows::first(thread), col0 = col + lane % 4 / lanes * 4 + lane % lanes * 8;
    C* const c = p.c + (at.m0 + row0) * p.c_row_stride + at.n0 + col0;
    const bool has_col = col0 >= there.col0 && col0 < there.col1;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half)
      f(half, has_col && there.has_row(row0 + rows::second * half), c + rows::second * half * p.c_row_stride);
  }
  KERAMOS_FORCEINLINE_FUNCTION void read_vectors(lane_vectors& to, int col) const {
    for_each_vector(col, [&](int half, bool is_there, const C* c)
                             KERAMOS_INLINED { atom::read_16_bytes(c, to.words[half], is_there); });
  }
  /// Lanes exchange what they have, so that each has the vector of one fragment; and before that the vectors of `old`, what was
  /// there, so that each has what its sums become.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors_of(const Epilogue& epilogue, const T (&few)[columns / 2],
                                                     const lane_vectors& old, int col) const {
    static_assert(lanes * sizeof(C) == 8);
    const int lane = thread % 32, own = lane % lanes, row0 = rows::first(thread);
    for_each_vector(col, [&](int half, bool is_there, C* c) KERAMOS_INLINED {
      const int row = row0 + rows::second * half;
      two x[lanes];  // of each fragment, then of one fragment's vector
      if constexpr (Reads) {
        ::memcpy(x, old.words[half], sizeof(x));
        transpose_in_lanes<atom>(x, own);
      }
      KERAMOS_UNROLL
      for (int f = 0; f < lanes; ++f) {
        C element[2];
        if constexpr (Reads) ::memcpy(element, &x[f], sizeof(two));
        KERAMOS_UNROLL
        for (int v = 0; v < 2; ++v) {
          const T sum = few[f * 4 + half * 2 + v];
          const index_t i = at.m0 + there.near_row(row),
                        j = at.n0 + there.near_col(col + f * 8 + lane % 4 * 2 + v);
          if constexpr (Reads)
            element[v] = element_with_c(epilogue, p.place, sum, element[v], i, j);
          else
            element[v] = element_without_c<C>(epilogue, p.place, sum, i, j);
        }
        ::memcpy(&x[f], element, sizeof(two));
      }
      transpose_in_lanes<atom>(x, own);
      unsigned words[4];
      ::memcpy(words, x, sizeof(words));
      atom::write_16_bytes(c, words, is_there);
    });
  }
};

}  // namespace keramos::detail::simt

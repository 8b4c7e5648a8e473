// How the sums that a warpgroup has in its threads' registers become C: those of two bytes in blocks that pass through local
// memory (c_block.hpp), others by vectors of 16 bytes where C allows them, else by elements.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_block.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/warpgroup_bytes.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::simt {

/// Which two rows of each 64 a thread has. The units mean the first order; where threads load A along m themselves, rows change
/// places: two neighbours are one load, and those of half a warp are in different banks of line_panel.
template <bool LoadsA>
struct warpgroup_rows {
  static constexpr int second = LoadsA ? 1 : 8;  ///< so far behind the first

  KERAMOS_FORCEINLINE_FUNCTION static int first(int thread) {
    const int warp = thread / 32, group = thread % 32 / 4;
    if constexpr (LoadsA)
      return warp / 2 * 32 + warp % 2 * 8 + group / 4 * 4 + group / 2 % 2 * 16 + group % 2 * 2;
    else
      return warp * 16 + group;
  }
};

/// Writes 64 x N sums of a warpgroup.
template <class Types, int N, class Exec, bool LoadsA>
struct warpgroup_c_writer {
  using T = typename Types::accumulator;
  using C = typename Types::c;

  const gemm_problem<Types>& p;
  const tiling::position& at;
  const tile_window& there;
  const T (&sums)[N / 2];  ///< of a thread: (fragment, half of its rows, column)
  int thread;              ///< of those that multiply
  char* local;             ///< for C of two bytes (bytes_of_c_row)

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const Epilogue& epilogue) const {
    if constexpr (sizeof(C) == 2)
      write_blocks(epilogue);
    else
      write_registers(epilogue);
  }

 private:
  using atom = backend::warpgroups<Exec>;
  using rows = warpgroup_rows<LoadsA>;
  static constexpr int fragments = N / 8;  ///< of 64 x 8
  /// Two neighbours of a row of C, which a lane has of each fragment, and those of several fragments: 16 bytes, or all that
  /// the four lanes of a row have.
  using pair = run<C, 2>;
  static constexpr int together = sizeof(pair) < 4 ? 4 : 16 / int(sizeof(pair));
  using vector = run<pair, together>;
  /// Lanes exchange whole words, of which a pair of bytes fills half.
  using pair_bits = run<unsigned, (sizeof(pair) + 3) / 4>;
  using pairs_bits = run<pair_bits, together>;
  static_assert(sizeof(C) != 2 || (!LoadsA && bytes_of_c_row(Types::operands.a) == 64));

  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_registers(const Epilogue& epilogue) const {
    const auto c = reinterpret_cast<std::uintptr_t>(p.c);
    const bool vectors =
        p.c_col_stride == 1 &&
        ((p.c_row_stride | at.n0 | there.col0 | there.col1) * sizeof(C) | c) % sizeof(vector) == 0;
    if constexpr (LoadsA)
      if (p.c_row_stride == 1 &&
          ((p.c_col_stride | at.m0 | there.row0 | there.row1) * sizeof(C) | c) % sizeof(pair) == 0)
        return write_pairs_of_rows(epilogue);
    if (vectors && reads_c<T>(epilogue))
      write_exchanged<true>(epilogue);
    else if (vectors)
      write_exchanged<false>(epilogue);
    else if (reads_c<T>(epilogue))
      write_elements<true>(epilogue);
    else
      write_elements<false>(epilogue);
  }

  KERAMOS_FORCEINLINE_FUNCTION int first_row() const { return rows::first(thread); }

  /// Each lane writes what it has, for rows of C that are not aligned and columns that are not neighbours.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_elements(const Epilogue& epilogue) const {
    const int first_col = thread % 4 * 2;
    C* const c = p.c + (at.m0 + first_row()) * p.c_row_stride + (at.n0 + first_col) * p.c_col_stride;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + rows::second * half;
      KERAMOS_UNROLL
      for (int j = 0; j < fragments; ++j) KERAMOS_UNROLL
      for (int v = 0; v < 2; ++v) {
        const int col = first_col + j * 8 + v;
        if (!there.has(row, col)) continue;
        C& element = c[rows::second * half * p.c_row_stride + (j * 8 + v) * p.c_col_stride];
        const T sum = sums[j * 4 + half * 2 + v];
        element = Reads ? element_with_c(epilogue, p.place, sum, element, at.m0 + row, at.n0 + col)
                        : element_without_c<C>(epilogue, p.place, sum, at.m0 + row, at.n0 + col);
      }
    }
  }

  /// Each lane writes its two rows of a column, which are neighbours in memory.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_pairs_of_rows(const Epilogue& epilogue) const requires(LoadsA) {
    const int row = first_row(), first_col = thread % 4 * 2;
    const index_t i = at.m0 + row;
    C* const c = p.c + i + (at.n0 + first_col) * p.c_col_stride;
    KERAMOS_UNROLL
    for (int j = 0; j < fragments; ++j) KERAMOS_UNROLL
    for (int v = 0; v < 2; ++v) {
      const int col = first_col + j * 8 + v;
      if (!there.has(row, col)) continue;
      pair* const to = reinterpret_cast<pair*>(c + (j * 8 + v) * p.c_col_stride);
      pair two{};
      if (reads_c<T>(epilogue)) two = *to;
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        const T sum = sums[j * 4 + half * 2 + v];
        two.value[half] = reads_c<T>(epilogue)
                              ? element_with_c(epilogue, p.place, sum, two.value[half], i + half, at.n0 + col)
                              : element_without_c<C>(epilogue, p.place, sum, i + half, at.n0 + col);
      }
      *to = two;
    }
  }

  /// C of two bytes passes through local memory, 32 columns at a time. Where it takes no vectors one code does so for all of
  /// them: code for each, of every length of words, would be four times the rest of the kernel. For two blocks there are too
  /// few registers to do otherwise.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_blocks(const Epilogue& epilogue) const {
    constexpr int columns = columns_of_c_block(N), count = N / columns;
    using block = c_block<Types, columns, Exec>;
    const int warp = thread / 32, row0 = warp * 16;
    const block c(p, at, there, local + warp * block::bytes, thread % 32);
    const auto take = [&](T(&few)[columns / 2], int b) KERAMOS_INLINED {
      KERAMOS_UNROLL
      for (int s = 0; s < columns / 2; ++s) few[s] = sums[b * columns / 2 + s];
    };
    if constexpr (count > 2) {
      if (c.takes_vectors()) {
        // All blocks for one answer: code that is skipped in each of them would be as many waits for the code behind it.
        const auto update_all = [&](auto reads) KERAMOS_INLINED {
          T few[columns / 2];
          KERAMOS_UNROLL
          for (int b = 0; b < count; ++b) {
            take(few, b);
            c.template update<false, true>(epilogue, reads, few, row0, b * columns);
          }
        };
        return reads_c<T>(epilogue) ? update_all(std::true_type()) : update_all(std::false_type());
      }
    }
    c.template update_each<count, false>(
        epilogue, take, [&](int) { return row0; }, [](int b) { return b * columns; });
  }

  /// Lanes that have neighbours change pairs with each other: of four lanes with four fragments each gets one fragment's eight
  /// columns, of two lanes with two fragments half of that.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_exchanged(const Epilogue& epilogue) const {
    const int lane = thread % 32, first_col = lane % together * 8 + lane % 4 / together * 4;
    C* const c = p.c + (at.m0 + first_row()) * p.c_row_stride + at.n0 + first_col;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + rows::second * half;
      const index_t i = at.m0 + row;
      const int end = there.has_row(row) ? there.col1 : 0;
      KERAMOS_UNROLL
      for (int j = 0; j < fragments; j += together) {
        vector* const to = reinterpret_cast<vector*>(c + rows::second * half * p.c_row_stride + j * 8);
        const bool is_there = first_col + j * 8 >= there.col0 && first_col + j * 8 < end;
        pairs_bits pairs{};
        if constexpr (Reads) {
          if (is_there) pairs = bits_of(load_at_once(to));
          pairs = exchanged(pairs, lane);
        }
        KERAMOS_UNROLL
        for (int f = 0; f < together; ++f) {
          pair two;
          if constexpr (Reads) std::memcpy(&two, &pairs.value[f], sizeof(two));
          KERAMOS_UNROLL
          for (int v = 0; v < 2; ++v) {
            const T sum = sums[(j + f) * 4 + half * 2 + v];
            const index_t col = at.n0 + (j + f) * 8 + lane % 4 * 2 + v;
            two.value[v] = Reads ? element_with_c(epilogue, p.place, sum, two.value[v], i, col)
                                 : element_without_c<C>(epilogue, p.place, sum, i, col);
          }
          std::memcpy(&pairs.value[f], &two, sizeof(two));
        }
        pairs = exchanged(pairs, lane);
        if (is_there) *to = vector_of(pairs);
      }
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION static pairs_bits bits_of(const vector& x) {
    pairs_bits bits{};
    KERAMOS_UNROLL
    for (int f = 0; f < together; ++f) std::memcpy(&bits.value[f], &x.value[f], sizeof(pair));
    return bits;
  }
  KERAMOS_FORCEINLINE_FUNCTION static vector vector_of(const pairs_bits& bits) {
    vector x;
    KERAMOS_UNROLL
    for (int f = 0; f < together; ++f) std::memcpy(&x.value[f], &bits.value[f], sizeof(pair));
    return x;
  }
  /// Pairs are a matrix of lanes and fragments; this is its transpose.
  KERAMOS_FORCEINLINE_FUNCTION static pairs_bits exchanged(pairs_bits pairs, int lane) {
    KERAMOS_UNROLL
    for (int mask = 1; mask < together; mask *= 2) {
      const bool upper = (lane & mask) != 0;
      KERAMOS_UNROLL
      for (int f = 0; f < together; ++f) {
        if (f & mask) continue;
        KERAMOS_UNROLL
        for (int w = 0; w < int(sizeof(pair_bits) / sizeof(unsigned)); ++w) {
          unsigned &low = pairs.value[f].value[w], &high = pairs.value[f + mask].value[w];
          const unsigned got = atom::exchange(upper ? low : high, mask);
          low = upper ? got : low;
          high = upper ? high : got;
        }
      }
    }
    return pairs;
  }
};

}  // namespace keramos::detail::simt

// How the sums that a warpgroup has in its threads' registers become C: by vectors of 16 bytes where C allows them, else by
// elements.
#pragma once

#include <cstdint>
#include <cstring>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
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
    const auto c = reinterpret_cast<std::uintptr_t>(p.c);
    const bool vectors =
        p.c_col_stride == 1 &&
        ((p.c_row_stride | at.n0 | there.col0 | there.col1) * sizeof(C) | c) % sizeof(vector) == 0;
    if constexpr (LoadsA)
      if (p.c_row_stride == 1 &&
          ((p.c_col_stride | at.m0 | there.row0 | there.row1) * sizeof(C) | c) % sizeof(pair) == 0)
        return write_pairs_of_rows(epilogue);
    if (vectors && reads_c<T>(epilogue))
      write_vectors<true>(epilogue);
    else if (vectors)
      write_vectors<false>(epilogue);
    else if constexpr (sizeof(C) == 2)
      write_words_through_local(epilogue);
    else if (reads_c<T>(epilogue))
      write_elements<true>(epilogue);
    else
      write_elements<false>(epilogue);
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

  /// Each lane writes 16 bytes at a time.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const Epilogue& epilogue) const {
    if constexpr (sizeof(C) == 2)
      write_through_local<Reads>(epilogue);
    else
      write_exchanged<Reads>(epilogue);
  }

  /// The local memory of a warp, for its 16 rows of four fragments, which are 64 bytes a row. The four vectors of a row change
  /// places so that eight rows of a fragment are in different banks.
  struct warp_memory {
    char* first;
    /// Where this lane says that a row of two fragments is; the other two lie 32 bytes on or back.
    char* fragments;

    KERAMOS_FORCEINLINE_FUNCTION warp_memory(char* local, int row0, int lane)
        : first(local + row0 * 64), fragments(vector_at(lane % 16, lane / 16)) {}
    KERAMOS_FORCEINLINE_FUNCTION char* vector_at(int row, int vector_of_row) const {
      return first + row * 64 + (vector_of_row ^ row / 2 % 4) * 16;
    }
    KERAMOS_FORCEINLINE_FUNCTION C* element_at(int row, int col) const {
      return reinterpret_cast<C*>(vector_at(row, col / 8)) + col % 8;
    }
    KERAMOS_FORCEINLINE_FUNCTION char* fragments_at(int two) const {
      return first + ((fragments - first) ^ (two * 32));
    }
  };

  /// Makes elements of C of the sums of four fragments, in local memory, where C's old ones are if it `reads`.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void four_fragments(const Epilogue& epilogue, const warp_memory& memory, int j,
                                                   bool reads) const {
    unsigned words[4];
    KERAMOS_UNROLL
    for (int two = 0; two < 2; ++two) {
      if (reads) atom::load_matrices(memory.fragments_at(two), words);
      KERAMOS_UNROLL
      for (int w = 0; w < 4; ++w) {
        const int f = j + 2 * two + w / 2, half = w % 2;
        pair x{};
        if (reads) std::memcpy(&x, &words[w], sizeof(x));
        KERAMOS_UNROLL
        for (int v = 0; v < 2; ++v) {
          const T sum = sums[f * 4 + half * 2 + v];
          const index_t i = at.m0 + first_row() + 8 * half, col = at.n0 + f * 8 + thread % 4 * 2 + v;
          x.value[v] = reads ? element_with_c(epilogue, p.place, sum, x.value[v], i, col)
                             : element_without_c<C>(epilogue, p.place, sum, i, col);
        }
        std::memcpy(&words[w], &x, sizeof(x));
      }
      atom::store_matrices(memory.fragments_at(two), words);
    }
  }

  /// C of two bytes passes through local memory, where lanes find whole vectors of what others have.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through_local(const Epilogue& epilogue) const {
    using four_words = run<unsigned, 4>;
    const int lane = thread % 32, row0 = thread / 32 * 16;
    const warp_memory memory(local, row0, lane);
    char* const of_vectors =
        memory.vector_at(lane / 4, lane % 4);  // of rows 0 to 7; the others lie 512 bytes on
    const int first_col = lane % 4 * 8, row = row0 + lane / 4;
    C* const c = p.c + (at.m0 + row) * p.c_row_stride + at.n0 + first_col;
    int end[2];  // of the columns that are there
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) end[half] = there.has_row(row + 8 * half) ? there.col1 : 0;
    KERAMOS_UNROLL
    for (int j = 0; j < fragments; j += 4) {
      const auto is_there = [&](int half) {
        return first_col + j * 8 >= there.col0 && first_col + j * 8 < end[half];
      };
      const auto vector_at = [&](int half) {
        return reinterpret_cast<four_words*>(c + 8 * half * p.c_row_stride + j * 8);
      };
      if constexpr (Reads) {
        KERAMOS_UNROLL
        for (int half = 0; half < 2; ++half) {
          four_words old{};
          if (is_there(half)) old = load_at_once(vector_at(half));
          atom::store_16_bytes(of_vectors + 512 * half, old.value);
        }
        atom::meet_warp();
      }
      four_fragments(epilogue, memory, j, Reads);
      atom::meet_warp();
      unsigned words[4];
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        atom::load_16_bytes(of_vectors + 512 * half, words);
        if (is_there(half)) atom::write_16_bytes(vector_at(half), words);
      }
      atom::meet_warp();
    }
  }

  /// The same where vectors are not aligned, or columns no neighbours: in words of four, two or one element, as C allows them,
  /// and lanes along C's memory. Little code, for all such C.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_words_through_local(const Epilogue& epilogue) const {
    constexpr int at_once = 4;
    const int lane = thread % 32, row0 = thread / 32 * 16;
    const warp_memory memory(local, row0, lane);
    const bool reads = reads_c<T>(epilogue), along_rows = p.c_row_stride != 1;
    const int length = elements_of_word();
    // A lane's first word, and the way to its next one.
    const int row_of_lane = along_rows ? lane * length / 32 : lane % 16,
              col_of_lane = along_rows ? lane * length % 32 : lane / 16;
    const int next_row = along_rows ? length : 0, next_col = along_rows ? 0 : 2;
    const index_t next = next_row * p.c_row_stride + next_col * p.c_col_stride;
    C* const c = p.c + (at.m0 + row0 + row_of_lane) * p.c_row_stride + (at.n0 + col_of_lane) * p.c_col_stride;
    KERAMOS_UNROLL
    for (int j = 0; j < fragments; j += 4) {
      // Calls f(words in local memory, those of C, which are there).
      const auto for_each_few = [&](const auto& f) {
        int row = row_of_lane, col = col_of_lane;
        C* word = c + j * 8 * p.c_col_stride;
        KERAMOS_NO_UNROLL
        for (int left = 16 * 32 / length; left > 0; left -= 32 * at_once) {
          C *near[at_once], *far[at_once];
          bool are_there[at_once];
          KERAMOS_UNROLL
          for (int u = 0; u < at_once; ++u) {
            near[u] = memory.element_at(row, col);
            far[u] = word;
            are_there[u] = there.has(row0 + row, j * 8 + col);
            row += next_row, col += next_col, word += next;
          }
          f(near, far, are_there);
        }
      };
      const auto copy = [&](C* const(&from)[at_once], C* const(&to)[at_once],
                            const bool(&are_there)[at_once]) {
        if (length == 4)
          copy_words<run<C, 4>>(from, to, are_there);
        else if (length == 2)
          copy_words<run<C, 2>>(from, to, are_there);
        else
          copy_words<C>(from, to, are_there);
      };
      if (reads) {
        for_each_few([&](auto& near, auto& far, auto& are_there) { copy(far, near, are_there); });
        atom::meet_warp();
      }
      four_fragments(epilogue, memory, j, reads);
      atom::meet_warp();
      for_each_few([&](auto& near, auto& far, auto& are_there) { copy(near, far, are_there); });
      atom::meet_warp();
    }
  }
  /// How many elements of a row of C one word has, so that words are aligned and either inside of what is written or outside.
  KERAMOS_FORCEINLINE_FUNCTION int elements_of_word() const {
    const index_t multiple = (p.c_row_stride | at.n0 | there.col0 | there.col1) * index_t(sizeof(C)) |
                             index_t(reinterpret_cast<std::uintptr_t>(p.c));
    if (p.c_col_stride != 1 || p.c_row_stride == 1) return 1;
    return multiple % 8 == 0 ? 4 : multiple % 4 == 0 ? 2 : 1;
  }
  /// Those that are there.
  template <class Word, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void copy_words(C* const (&from)[Count], C* const (&to)[Count],
                                                      const bool (&are_there)[Count]) {
    Word x[Count];
    KERAMOS_UNROLL
    for (int u = 0; u < Count; ++u) x[u] = are_there[u] ? *reinterpret_cast<const Word*>(from[u]) : Word{};
    KERAMOS_UNROLL
    for (int u = 0; u < Count; ++u)
      if (are_there[u]) *reinterpret_cast<Word*>(to[u]) = x[u];
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

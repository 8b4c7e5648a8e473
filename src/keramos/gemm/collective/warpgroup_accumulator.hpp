// The sums that a warpgroup has in its threads' registers: how a k-tile is added to them, and how they become C.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/float8.hpp>
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

/// Sums of a warpgroup, 64 x N.
template <class Types, int N, class Exec, bool LoadsA>
class warpgroup_accumulator {
  using T = typename Types::accumulator;
  using E = typename Types::a;
  using atom = backend::warpgroups<Exec>;
  using rows = warpgroup_rows<LoadsA>;
  static constexpr int fragments = N / 8;  ///< of 64 x 8

 public:
  /// Whether the units' sums are not good enough, of fewer bits than T has or not rounded: then those of each k-tile are
  /// formed by themselves, 128 columns at a time, and added to the rest here.
  static constexpr bool adds_k_tiles = std::is_same_v<E, float8> || Types::splits_elements;
  static constexpr int parts = adds_k_tiles ? N / 128 : 1;  ///< of the columns
  static_assert(!adds_k_tiles || N % 128 == 0);
  /// Of sums, and of what is loaded of A: two k-tiles.
  static constexpr int registers = N / 2 + (adds_k_tiles ? 64 : 0) + (LoadsA ? 2 * 16 : 0);

  KERAMOS_FORCEINLINE_FUNCTION explicit warpgroup_accumulator(int thread) : thread_(thread) {
    if constexpr (adds_k_tiles) {
      KERAMOS_UNROLL
      for (int i = 0; i < N / 2; ++i) sums_[i] = T(0);
    }
  }

  /// Between begin and commit of the units: begins to multiply a k-tile of 128 bytes, whose panels are described, one part of
  /// the columns; `add` to the sums, or where k-tiles are added to that k-tile's, that are there or not.
  template <class PanelA, class PanelB, bool KindA, bool KindB>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(std::uint64_t a, std::uint64_t b, [[maybe_unused]] int part,
                                             [[maybe_unused]] bool add) {
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step) {
      const std::uint64_t a_step = atom::advance(a, PanelA::bytes_to(0, step)),
                          b_step = atom::advance(b, PanelB::bytes_to(adds_k_tiles ? part * 128 : 0, step));
      if constexpr (Types::splits_elements)
        atom::template multiply<E, false, false>(of_k_tile_, a_step, b_step, add || step > 0);
      else if constexpr (adds_k_tiles)
        atom::template multiply_bytes<KindA, KindB>(of_k_tile_, a_step, b_step, add || step > 0);
      else if constexpr (sizeof(E) == 1)
        atom::template multiply_bytes<KindA, KindB>(sums_, a_step, b_step, add || step > 0);
      else
        atom::template multiply<E, PanelA::along_mn, PanelB::along_mn>(sums_, a_step, b_step,
                                                                       add || step > 0);
    }
  }

  /// What a thread has of a k-tile of A that lies along m.
  struct loaded_a {
    unsigned of_step[4][4];

    /// `panel` is the first k-tile of A, `bytes` how far behind it the one meant is.
    template <class PanelA>
    KERAMOS_FORCEINLINE_FUNCTION void load(const char* panel, int bytes, int thread) {
      using two = run<unsigned, 2>;
      const int row = rows::first(thread), k = thread % 4;
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        const char* const at = panel + PanelA::offset(row, k + 4 * half) * int(sizeof(E)) + bytes;
        KERAMOS_UNROLL
        for (int step = 0; step < 4; ++step) {
          const two x = *reinterpret_cast<const two*>(at + step * PanelA::bytes_to(0, 1));
          of_step[step][2 * half] = x.value[0], of_step[step][2 * half + 1] = x.value[1];
        }
      }
    }
    /// The products that read it are done.
    KERAMOS_FORCEINLINE_FUNCTION void settle() {
      KERAMOS_UNROLL
      for (int step = 0; step < 4; ++step) KERAMOS_UNROLL
      for (int i = 0; i < 4; ++i) atom::settle(of_step[step][i]);
    }
  };

  /// As multiply above, with A loaded.
  template <class PanelB>
  KERAMOS_FORCEINLINE_FUNCTION void multiply(const loaded_a& a, std::uint64_t b, bool add) requires(LoadsA) {
    KERAMOS_UNROLL
    for (int step = 0; step < 4; ++step)
      atom::multiply(sums_, a.of_step[step], atom::advance(b, PanelB::bytes_to(0, step)), add || step > 0);
  }

  /// All products are done.
  KERAMOS_FORCEINLINE_FUNCTION void settle() {
    if constexpr (!adds_k_tiles) {
      KERAMOS_UNROLL
      for (int i = 0; i < N / 2; ++i) atom::settle(sums_[i]);
    }
  }

  /// Adds a k-tile's sums of a part, which are done.
  KERAMOS_FORCEINLINE_FUNCTION void add_k_tile(int part) requires(adds_k_tiles) {
    KERAMOS_UNROLL
    for (int i = 0; i < 64; ++i) {
      atom::settle(of_k_tile_[i]);
      sums_[part * 64 + i] += of_k_tile_[i];
    }
  }

  /// `f(number, run)` for the sums in runs of 16 bytes.
  template <class F>
  KERAMOS_FORCEINLINE_FUNCTION void for_each_vector(const F& f) {
    KERAMOS_UNROLL
    for (int i = 0; i < fragments; ++i) {
      T run[4] = {sums_[4 * i], sums_[4 * i + 1], sums_[4 * i + 2], sums_[4 * i + 3]};
      f(i, run);
      KERAMOS_UNROLL
      for (int v = 0; v < 4; ++v) sums_[4 * i + v] = run[v];
    }
  }

  /// Writes the tile through the epilogue. Sums that are not finite may have been formed of parts of elements; those are
  /// formed again first (epilogue/exact_infinities.hpp). C of two bytes passes through `local` (bytes_of_c_row).
  template <class Position, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write(const gemm_problem<Types>& p, const Position& at,
                                          const Epilogue& epilogue, [[maybe_unused]] char* local) {
    const int rows_here = p.m - at.m0 < at.rows ? int(p.m - at.m0) : at.rows,
              cols = p.n - at.n0 < at.cols ? int(p.n - at.n0) : at.cols;
    int skip_m = 0, skip_n = 0;
    if constexpr (std::is_same_v<Position, tiling::shifted_position>) skip_m = at.skip_m, skip_n = at.skip_n;
    const window there{skip_m, rows_here, skip_n, cols};
    if constexpr (Types::splits_elements) form_again(at, there, epilogue);
    const auto c = reinterpret_cast<std::uintptr_t>(p.c);
    const bool vectors = p.c_col_stride == 1 &&
                         ((p.c_row_stride | at.n0 | skip_n | cols) * sizeof(C) | c) % sizeof(vector) == 0;
    if constexpr (LoadsA)
      if (p.c_row_stride == 1 &&
          ((p.c_col_stride | at.m0 | skip_m | rows_here) * sizeof(C) | c) % sizeof(pair) == 0)
        return write_pairs_of_rows(p, at, there, epilogue);
    if (vectors && reads_c<T>(epilogue))
      write_vectors<true>(p, at, there, epilogue, local);
    else if (vectors)
      write_vectors<false>(p, at, there, epilogue, local);
    else if (reads_c<T>(epilogue))
      write_elements<true>(p, at, there, epilogue);
    else if (sizeof(C) == 2 && p.c_col_stride == 1)
      write_words(p, at, there, epilogue);
    else
      write_elements<false>(p, at, there, epilogue);
  }

 private:
  using C = typename Types::c;
  /// Two neighbours of a row of C, which a lane has of each fragment, and those of several fragments: 16 bytes, or all that
  /// the four lanes of a row have.
  using pair = run<C, 2>;
  static constexpr int together = sizeof(pair) < 4 ? 4 : 16 / int(sizeof(pair));
  using vector = run<pair, together>;
  /// Lanes exchange whole words, of which a pair of bytes fills half.
  using pair_bits = run<unsigned, (sizeof(pair) + 3) / 4>;
  using pairs_bits = run<pair_bits, together>;

  /// The rows and columns of the tile that are to be written.
  struct window {
    int row0, row1, col0, col1;
    KERAMOS_FORCEINLINE_FUNCTION bool has(int row, int col) const {
      return row >= row0 && row < row1 && col >= col0 && col < col1;
    }
  };

  KERAMOS_FORCEINLINE_FUNCTION int first_row() const { return rows::first(thread_); }

  /// The sums that are neither infinite nor NaN stay. In a loop, for code of each sum would be fetched for each tile.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void form_again(const tiling::position& at, const window& there,
                                               const Epilogue& epilogue) {
    KERAMOS_UNROLL
    for (int part = 0; part < parts; ++part) {
      std::uint64_t left = 0;
      KERAMOS_UNROLL
      for (int i = 0; i < 64; ++i) {
        const T sum = sums_[part * 64 + i];
        if (!(sum - sum == 0)) left |= std::uint64_t(1) << i;
      }
      for (int number = 0; left != 0; ++number, left >>= 1) {
        const int row = first_row() + number % 4 / 2 * rows::second;
        const int col = part * 128 + number / 4 * 8 + thread_ % 4 * 2 + number % 2;
        if ((left & 1) == 0 || !there.has(row, col)) continue;
        const T sum = epilogue.sum(at.m0 + row, at.n0 + col);
        KERAMOS_UNROLL
        for (int i = 0; i < 64; ++i) sums_[part * 64 + i] = i == number ? sum : sums_[part * 64 + i];
      }
    }
  }

  /// Each lane writes what it has, for rows of C that are not aligned and columns that are not neighbours.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_elements(const gemm_problem<Types>& p, const tiling::position& at,
                                                   const window& there, const Epilogue& epilogue) const {
    const int first_col = thread_ % 4 * 2;
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
        const T sum = sums_[j * 4 + half * 2 + v];
        element = Reads ? element_with_c(epilogue, p.place, sum, element, at.m0 + row, at.n0 + col)
                        : element_without_c<C>(epilogue, p.place, sum, at.m0 + row, at.n0 + col);
      }
    }
  }

  /// The same of short elements that are neighbours, in words.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_words(const gemm_problem<Types>& p, const tiling::position& at,
                                                const window& there, const Epilogue& epilogue) const {
    if constexpr (sizeof(C) == 2) {
      const int row = first_row(), next = row + rows::second;
      C* const c = p.c + (at.m0 + row) * p.c_row_stride + at.n0;
      C* const of_rows[] = {c, c + rows::second * p.c_row_stride};
      const bool are_there[] = {row >= there.row0 && row < there.row1,
                                next >= there.row0 && next < there.row1};
      write_in_words<atom, fragments>(
          of_rows, are_there, thread_ % 32, there.col0, there.col1, [&](int half, int j, int v) {
            return element_without_c<C>(epilogue, p.place, sums_[j * 4 + half * 2 + v],
                                        at.m0 + row + half * rows::second,
                                        at.n0 + j * 8 + thread_ % 4 * 2 + v);
          });
    }
  }

  /// Each lane writes its two rows of a column, which are neighbours in memory.
  template <class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_pairs_of_rows(const gemm_problem<Types>& p,
                                                        const tiling::position& at, const window& there,
                                                        const Epilogue& epilogue) const requires(LoadsA) {
    const int row = first_row(), first_col = thread_ % 4 * 2;
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
        const T sum = sums_[j * 4 + half * 2 + v];
        two.value[half] = reads_c<T>(epilogue)
                              ? element_with_c(epilogue, p.place, sum, two.value[half], i + half, at.n0 + col)
                              : element_without_c<C>(epilogue, p.place, sum, i + half, at.n0 + col);
      }
      *to = two;
    }
  }

  /// Each lane writes 16 bytes at a time.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_vectors(const gemm_problem<Types>& p, const tiling::position& at,
                                                  const window& there, const Epilogue& epilogue,
                                                  char* local) const {
    if constexpr (sizeof(C) == 2)
      write_through_local<Reads>(p, at, there, epilogue, local);
    else
      write_exchanged<Reads>(p, at, there, epilogue);
  }

  /// Each warp has local memory for its 16 rows of four fragments, 64 bytes a row, whose four vectors change places so that
  /// eight rows of a fragment are in different banks. There lanes find whole vectors of what others have.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_through_local(const gemm_problem<Types>& p,
                                                        const tiling::position& at, const window& there,
                                                        const Epilogue& epilogue, char* local) const {
    using four_words = run<unsigned, 4>;
    static_assert(sizeof(C) == 2 && !LoadsA && bytes_of_c_row(Types::operands.a) == 64);
    const int lane = thread_ % 32, row0 = thread_ / 32 * 16;
    const auto place_of = [&](int row, int vector_of_row) {
      return local + (row0 + row) * 64 + (vector_of_row ^ row / 2 % 4) * 16;
    };
    char* const of_fragments =
        place_of(lane % 16, lane / 16);                     // of two; the other two lie 32 bytes on or back
    char* const of_vectors = place_of(lane / 4, lane % 4);  // of rows 0 to 7; the others lie 512 bytes on
    const auto fragments_at = [&](int two) { return local + ((of_fragments - local) ^ (two * 32)); };
    const int first_col = lane % 4 * 8, row = row0 + lane / 4;
    C* const c = p.c + (at.m0 + row) * p.c_row_stride + at.n0 + first_col;
    int end[2];  // of the columns that are there
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half)
      end[half] = row + 8 * half >= there.row0 && row + 8 * half < there.row1 ? there.col1 : 0;
    KERAMOS_UNROLL
    for (int j = 0; j < fragments; j += 4) {
      const auto is_there = [&](int half) {
        return first_col + j * 8 >= there.col0 && first_col + j * 8 < end[half];
      };
      const auto vector_at = [&](int half) {
        return reinterpret_cast<four_words*>(c + 8 * half * p.c_row_stride + j * 8);
      };
      unsigned words[4];
      if constexpr (Reads) {
        KERAMOS_UNROLL
        for (int half = 0; half < 2; ++half) {
          four_words old{};
          if (is_there(half)) old = load_at_once(vector_at(half));
          atom::store_16_bytes(of_vectors + 512 * half, old.value);
        }
        atom::meet_warp();
      }
      KERAMOS_UNROLL
      for (int two = 0; two < 2; ++two) {
        if constexpr (Reads) atom::load_matrices(fragments_at(two), words);
        KERAMOS_UNROLL
        for (int w = 0; w < 4; ++w) {
          const int f = j + 2 * two + w / 2, half = w % 2;
          pair x;
          if constexpr (Reads) std::memcpy(&x, &words[w], sizeof(x));
          KERAMOS_UNROLL
          for (int v = 0; v < 2; ++v) {
            const T sum = sums_[f * 4 + half * 2 + v];
            const index_t i = at.m0 + first_row() + 8 * half, col = at.n0 + f * 8 + lane % 4 * 2 + v;
            x.value[v] = Reads ? element_with_c(epilogue, p.place, sum, x.value[v], i, col)
                               : element_without_c<C>(epilogue, p.place, sum, i, col);
          }
          std::memcpy(&words[w], &x, sizeof(x));
        }
        atom::store_matrices(fragments_at(two), words);
      }
      atom::meet_warp();
      KERAMOS_UNROLL
      for (int half = 0; half < 2; ++half) {
        atom::load_16_bytes(of_vectors + 512 * half, words);
        if (is_there(half)) atom::write_16_bytes(vector_at(half), words);
      }
      atom::meet_warp();
    }
  }

  /// Lanes that have neighbours change pairs with each other: of four lanes with four fragments each gets one fragment's eight
  /// columns, of two lanes with two fragments half of that.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void write_exchanged(const gemm_problem<Types>& p, const tiling::position& at,
                                                    const window& there, const Epilogue& epilogue) const {
    const int lane = thread_ % 32, first_col = lane % together * 8 + lane % 4 / together * 4;
    C* const c = p.c + (at.m0 + first_row()) * p.c_row_stride + at.n0 + first_col;
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int row = first_row() + rows::second * half;
      const index_t i = at.m0 + row;
      const int end = row >= there.row0 && row < there.row1 ? there.col1 : 0;
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
            const T sum = sums_[(j + f) * 4 + half * 2 + v];
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

  int thread_;     // of those that multiply
  T sums_[N / 2];  // (fragment, half of its rows, column)
  T of_k_tile_[adds_k_tiles ? 64 : 1];
};

}  // namespace keramos::detail::simt

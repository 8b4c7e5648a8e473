// Sixteen rows of C in local memory, on their way between C and the registers of a warp, which has sums of 16 x 8 fragments
// (PTX ISA, "Matrix Fragments for mma.m16n8k16"). There lanes find words as long as C allows, side by side along C's memory.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

/// How many of the columns of a warp's tile one block has: rows of at most 64 bytes, and sums in few registers.
template <class C, int WarpColumns>
inline constexpr int columns_of_c_block = sizeof(C) <= 2 && WarpColumns % 32 == 0 ? 32 : 16;

/// Which elements of a block a lane has: of a row, `neighbours` of each 8 * neighbours / 2 columns, and the same of the row
/// `second` behind it. Rows from the ninth on are `gap` rows further on in C. These are as units have their fragments.
struct fragment_lanes {
  static constexpr int neighbours = 2, second = 8, gap = 0;
  KERAMOS_FORCEINLINE_FUNCTION static int row(int lane) { return lane / 4; }
};
/// Those of elements of one byte, of which two fragments share columns (warp_mma_short_accumulator).
struct byte_lanes {
  static constexpr int neighbours = 4, second = 1, gap = 0;
  KERAMOS_FORCEINLINE_FUNCTION static int row(int lane) { return lane / 4 * 2; }
};

/// 16 x Columns elements of C of at most four bytes. Rows are stored one behind the other; the vectors of 16 bytes of a row
/// change places so that what fragment_lanes have of eight rows is in different banks (of others half of it).
template <class Types, int Columns, class Lanes, class Exec>
class c_block {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr int size = int(sizeof(C));
  static constexpr int most_elements = 16 / size;  ///< of a word
  static constexpr int rows = 16, row_bytes = Columns * size;
  static constexpr int fragment_bytes = 8 * size;  ///< of a row
  static_assert(size <= 4 && (Columns == 16 || Columns == 32) && row_bytes <= 64);

 public:
  static constexpr int columns = Columns, bytes = rows * row_bytes;  ///< of local memory, at multiples of 16

  /// Of a tile. `local` is the warp's.
  template <class Position>
  KERAMOS_FORCEINLINE_FUNCTION c_block(const gemm_problem<Types>& p, const Position& at,
                                       const tile_window& there, char* local, int lane)
      : p_(p),
        there_(there),
        m0_(at.m0),
        n0_(at.n0),
        first_(local),
        lane_(lane),
        word_(elements_of_word(p, at.n0, there)) {}

  /// Whether C takes vectors of 16 bytes.
  KERAMOS_FORCEINLINE_FUNCTION bool takes_vectors() const { return word_ == most_elements; }

  /// Updates C from row0 and column col0 of the tile on by a lane's sums (fragment, half of its rows, column). `reads` says
  /// whether the epilogue reads C. With `InVectors` it is known that C takes vectors. Epilogues are called for sums beside C too,
  /// with the place of the nearest element, and 0 for C.
  template <bool InVectors = false, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void update(const Epilogue& epilogue, bool reads, const T (&sums)[Columns / 2],
                                           int row0, int col0) const {
    if (is_outside(row0, col0)) return;
    update_inside<InVectors>(epilogue, reads, sums, row0, col0,
                             [&](int lane) KERAMOS_INLINED { copy<true, InVectors>(lane, row0, col0); });
  }

  /// Updates `Count` blocks by one code, whose registers `take(few, number)` sets for each number, a constant; `row0(b)` and
  /// `col0(b)` are where block b begins. With `InVectors` each is read while the one before is updated.
  template <int Count, bool InVectors = false, class Epilogue, class Take, class Row, class Column>
  KERAMOS_FORCEINLINE_FUNCTION void update_each(const Epilogue& epilogue, const Take& take, const Row& row0,
                                                const Column& col0) const {
    T few[Columns / 2] = {};
    [[maybe_unused]] vectors next = {};
    const auto read_next = [&](int b) KERAMOS_INLINED {
      if constexpr (InVectors)
        if (b < Count && reads_c<T>(epilogue)) read(next, lane_, row0(b), col0(b));
    };
    read_next(0);
    KERAMOS_NO_UNROLL
    for (int b = 0; b < Count; ++b) {
      if (is_outside(row0(b), col0(b))) {
        read_next(b + 1);
        continue;
      }
      with_number<Count>(b, [&](auto number) KERAMOS_INLINED {
        take(few, decltype(number)::value);
        KERAMOS_UNROLL
        for (T& sum : few) sum = atom::opaque(sum);
      });
      update_inside<InVectors>(epilogue, reads_c<T>(epilogue), few, row0(b), col0(b),
                               [&](int lane) KERAMOS_INLINED {
                                 if constexpr (InVectors) {
                                   store(next, lane);
                                   read_next(b + 1);
                                 } else {
                                   copy<true, InVectors>(lane, row0(b), col0(b));
                                 }
                               });
    }
  }

  /// The same of the fragments of a warp, whose tile begins there.
  template <int Rows, int Cols, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void update_fragments(const Epilogue& epilogue,
                                                     const T (&sums)[Rows][Cols][2][2], int row0,
                                                     int col0) const {
    constexpr int across = Cols * 8 / Columns;
    update_each<Rows * across>(
        epilogue,
        [&](T(&few)[Columns / 2], int b) KERAMOS_INLINED {
          KERAMOS_UNROLL
          for (int s = 0; s < Columns / 2; ++s)
            few[s] = sums[b / across][b % across * Columns / 8 + s / 4][s / 2 % 2][s % 2];
        },
        [&](int b) { return row0 + b / across * 16; }, [&](int b) { return col0 + b % across * Columns; });
  }

 private:
  /// What a lane has of a block of a C that takes vectors, each row by lanes that follow each other.
  struct vectors {
    static constexpr int lanes = row_bytes / 16, rows_at_once = lanes > 1 ? 32 / lanes : rows;
    static constexpr int count = rows / rows_at_once;
    unsigned words[count][4];
  };
  /// From C, and to local memory.
  KERAMOS_FORCEINLINE_FUNCTION void read(vectors& x, int lane, int row0, int col0) const {
    const int row = lane / vectors::lanes % rows, col = col0 + lane % vectors::lanes * most_elements;
    KERAMOS_UNROLL
    for (int u = 0; u < vectors::count; ++u) {
      const int i = row0 + row + in_c(u * vectors::rows_at_once);
      atom::read_16_bytes(p_.c + (m0_ + i) * p_.c_row_stride + n0_ + col, x.words[u], there_.has(i, col));
    }
  }
  KERAMOS_FORCEINLINE_FUNCTION void store(const vectors& x, int lane) const {
    char* const first = at(lane / vectors::lanes % rows, lane % vectors::lanes * most_elements);
    KERAMOS_UNROLL
    for (int u = 0; u < vectors::count; ++u) {
      const int on = u * vectors::rows_at_once;
      atom::store_16_bytes(beside(first, moved(on)) + on * row_bytes, x.words[u]);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION bool is_outside(int row0, int col0) const {
    return atom::any_in_warp(row0 + rows + Lanes::gap <= there_.row0 || row0 >= there_.row1 ||
                             col0 + Columns <= there_.col0 || col0 >= there_.col1);
  }

  /// As update, of a block which is not all outside. `bring(lane)` brings what is read of C to local memory.
  template <bool InVectors, class Epilogue, class Bring>
  KERAMOS_FORCEINLINE_FUNCTION void update_inside(const Epilogue& epilogue, bool reads,
                                                  const T (&sums)[Columns / 2], int row0, int col0,
                                                  const Bring& bring) const {
    // Else what follows from the lane would stay in registers, for words of each length.
    const int lane = InVectors ? lane_ : atom::opaque(lane_);
    if (reads) {
      bring(lane);
      atom::meet_warp();
      make<true>(epilogue, sums, lane, row0, col0);
    } else {
      make<false>(epilogue, sums, lane, row0, col0);
    }
    atom::meet_warp();
    copy<false, InVectors>(lane, row0, col0);
    atom::meet_warp();
  }

  /// How many elements of a row of C one word has, so that words are aligned, and each lies inside of what is written or
  /// outside. 0 where columns are no neighbours.
  KERAMOS_FORCEINLINE_FUNCTION static int elements_of_word(const gemm_problem<Types>& p, index_t n0,
                                                           const tile_window& there) {
    if (p.c_col_stride != 1) return 0;
    const index_t multiple = (p.c_row_stride | n0 | there.col0 | there.col1) * size |
                             index_t(reinterpret_cast<std::uintptr_t>(p.c));
    const int bytes = multiple % 16 == 0  ? 16
                      : multiple % 8 == 0 ? 8
                      : multiple % 4 == 0 ? 4
                      : multiple % 2 == 0 ? 2
                                          : 1;
    return bytes / size;
  }

  /// By how many bytes the vectors of a row are moved: of rows with no bit in common the numbers have none either.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int moved(int row) {
    constexpr int step =
        fragment_bytes < 16 ? 16 : fragment_bytes;  // so that what is moved is whole fragments
    return row * row_bytes / 128 * step % row_bytes;
  }
  KERAMOS_FORCEINLINE_FUNCTION char* at(int row, int col) const {
    return first_ + row * row_bytes + ((col * size) ^ moved(row));
  }
  /// What is `bytes_on` bytes behind x, if no bit of that number is set in the place of x in its row.
  KERAMOS_FORCEINLINE_FUNCTION char* beside(char* x, int bytes_on) const {
    return first_ + (int(x - first_) ^ bytes_on);
  }
  /// Where a row of the block is in C, as seen from its first one.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int in_c(int row) { return row + row / 8 * Lanes::gap; }

  /// The new elements from sums. A caller's epilogue has a code for each value of `place.transposed`: where the compiler knows
  /// that rows are the caller's, what belongs to a column is read once for all rows.
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void make(const Epilogue& epilogue, const T (&sums)[Columns / 2], int lane,
                                         int row0, int col0) const {
    gemm_place place = p_.place;
    if constexpr (is_linear<Epilogue>) {
      make_at<Reads>(epilogue, place, sums, lane, row0, col0);
    } else if (place.transposed) {
      place.transposed = true;
      make_at<Reads>(epilogue, place, sums, lane, row0, col0);
    } else {
      place.transposed = false;
      make_at<Reads>(epilogue, place, sums, lane, row0, col0);
    }
  }
  template <bool Reads, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void make_at(const Epilogue& epilogue, const gemm_place& place,
                                            const T (&sums)[Columns / 2], int lane, int row0,
                                            int col0) const {
    constexpr int count = Lanes::neighbours;
    const int row = Lanes::row(lane), col = lane % 4 * count;
    char* const first = at(row, col);
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int of_half = Lanes::second * half;  // rows that are moved alike
      const index_t i = m0_ + there_.near_row(row0 + in_c(row) + of_half);
      KERAMOS_UNROLL
      for (int f = 0; f < Columns / 8; f += count / 2) {
        const auto near =
            reinterpret_cast<run<C, count>*>(beside(first, f * fragment_bytes) + of_half * row_bytes);
        run<C, count> x;
        if constexpr (Reads) x = load_run(near);
        KERAMOS_UNROLL
        for (int v = 0; v < count; ++v) {
          const T sum = count == 4 ? sums[(f + v % 2) * 4 + half * 2 + v / 2] : sums[f * 4 + half * 2 + v];
          const index_t j = n0_ + there_.near_col(col0 + f * 8 + col + v);
          x.value[v] = Reads ? element_with_c(epilogue, place, sum, x.value[v], i, j)
                             : element_without_c<C>(epilogue, place, sum, i, j);
        }
        store_run(near, x);
      }
    }
  }
  /// In one access: of two bytes, which are no word, too.
  template <class Run>
  KERAMOS_FORCEINLINE_FUNCTION static Run load_run(const Run* from) {
    if constexpr (sizeof(Run) == 2) {
      Run x;
      const std::uint16_t both = *reinterpret_cast<const std::uint16_t*>(from);
      ::memcpy(&x, &both, sizeof(x));
      return x;
    } else {
      return load_at_once(from);
    }
  }
  template <class Run>
  KERAMOS_FORCEINLINE_FUNCTION static void store_run(Run* to, const Run& x) {
    if constexpr (sizeof(Run) == 2) {
      std::uint16_t both;
      ::memcpy(&both, &x, sizeof(x));
      *reinterpret_cast<std::uint16_t*>(to) = both;
    } else {
      store_at_once(to->value, x);
    }
  }

  /// From C to local memory, or back: what is there.
  template <bool Reads, bool InVectors>
  KERAMOS_FORCEINLINE_FUNCTION void copy(int lane, int row0, int col0) const {
    if (InVectors || takes_vectors())
      copy_words<Reads, most_elements>(lane, row0, col0);
    else
      copy_shorter_words<Reads, most_elements / 2>(lane, row0, col0);
  }
  template <bool Reads, int Length>
  KERAMOS_FORCEINLINE_FUNCTION void copy_shorter_words(int lane, int row0, int col0) const {
    if constexpr (Length == 0)
      copy_columns<Reads>(lane, row0, col0);
    else if (word_ == Length)
      copy_words<Reads, Length>(lane, row0, col0);
    else
      copy_shorter_words<Reads, Length / 2>(lane, row0, col0);
  }
  /// In words of so many elements, each row by lanes that follow each other.
  template <bool Reads, int Length>
  KERAMOS_FORCEINLINE_FUNCTION void copy_words(int lane, int row0, int col0) const {
    constexpr int lanes = Columns / Length, rows_at_once = 32 / lanes < rows ? 32 / lanes : rows;
    constexpr int count = rows / rows_at_once, at_once = count < 4 ? count : 4;
    static_assert(Lanes::gap == 0 || rows_at_once <= 8);
    const int row = lane / lanes % rows, col = lane % lanes * Length;
    char* const first = at(row, col);
    C* far = p_.c + (m0_ + row0 + row) * p_.c_row_stride + n0_ + col0 + col;
    const bool has_col = col0 + col >= there_.col0 && col0 + col < there_.col1;
    const int begin = there_.row0 - row0 - row, end = has_col ? there_.row1 - row0 - row : 0;
    KERAMOS_UNROLL
    for (int block = 0; block < count; block += at_once) {
      char* near[at_once];
      C* of_c[at_once];
      bool are_there[at_once];
      KERAMOS_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const int on = (block + u) * rows_at_once;
        near[u] = beside(first, moved(on)) + on * row_bytes;
        of_c[u] = far, far += (in_c(on + rows_at_once) - in_c(on)) * p_.c_row_stride;
        are_there[u] = in_c(on) >= begin && in_c(on) < end;
      }
      move<Reads, Length>(near, of_c, are_there);
    }
  }
  /// Element by element, where columns are not neighbours: each by lanes that follow each other.
  template <bool Reads>
  KERAMOS_FORCEINLINE_FUNCTION void copy_columns(int lane, int row0, int col0) const {
    constexpr int at_once = 4, columns = 2;
    const int row = lane % rows, col = lane / rows;
    char* const first = at(row, col);
    const bool has_row = there_.has_row(row0 + in_c(row));
    C* far = p_.c + (m0_ + row0 + in_c(row)) * p_.c_row_stride + (n0_ + col0 + col) * p_.c_col_stride;
    KERAMOS_NO_UNROLL
    for (int eight = 0; eight < Columns; eight += 8) {
      char* near[at_once];
      C* of_c[at_once];
      bool are_there[at_once];
      KERAMOS_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const int on = eight + u * columns;
        near[u] = beside(first, on * size);
        of_c[u] = far, far += columns * p_.c_col_stride;
        are_there[u] = has_row && col0 + col + on >= there_.col0 && col0 + col + on < there_.col1;
      }
      move<Reads, 1>(near, of_c, are_there);
    }
  }

  /// The words that are there, all of them loaded before any is stored. In local memory those beside C are 0: epilogues may be
  /// called with them.
  template <bool Reads, int Length, int Count>
  KERAMOS_FORCEINLINE_FUNCTION static void move(char* const (&near)[Count], C* const (&far)[Count],
                                                const bool (&are_there)[Count]) {
    constexpr int bytes = Length * size;
    if constexpr (bytes == 16) {
      unsigned x[Count][4];
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (!Reads)
          atom::load_16_bytes(near[u], x[u]);
        else
          atom::read_16_bytes(far[u], x[u], are_there[u]);
      }
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (Reads)
          atom::store_16_bytes(near[u], x[u]);
        else
          atom::write_16_bytes(far[u], x[u], are_there[u]);
      }
    } else {
      using word =
          std::conditional_t<bytes == 8, std::uint64_t,
                             std::conditional_t<bytes == 4, std::uint32_t,
                                                std::conditional_t<bytes == 2, std::uint16_t, std::uint8_t>>>;
      word x[Count] = {};
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (!Reads)
          x[u] = *reinterpret_cast<const word*>(near[u]);
        else if (are_there[u])
          x[u] = *reinterpret_cast<const word*>(far[u]);
      }
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (Reads)
          *reinterpret_cast<word*>(near[u]) = x[u];
        else if (are_there[u])
          *reinterpret_cast<word*>(far[u]) = x[u];
      }
    }
  }

  const gemm_problem<Types>& p_;
  const tile_window& there_;
  index_t m0_, n0_;
  char* first_;
  int lane_;
  int word_;
};

}  // namespace keramos::detail::simt

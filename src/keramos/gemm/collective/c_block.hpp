// Sixteen rows of C in local memory, on their way between C and the registers of a warp, which has sums of 16 x 8 fragments
// (PTX ISA, "Matrix Fragments for mma.m16n8k16"). There lanes find words as long as C allows, side by side along C's memory.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <keramos/backends/interface.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/collective/c_writer.hpp>
#include <keramos/gemm/collective/run.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::simt {

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

/// How many columns a block has, of 32 or 16, in a warp's tile of so many.
constexpr int columns_of_c_block(int warp_columns) { return warp_columns % 32 == 0 ? 32 : 16; }

/// 16 x Columns elements of C of two bytes. Rows lie one behind the other; the vectors of 16 bytes of a row change places so that
/// eight rows of a fragment are in different banks (with `Bytes` half of them).
template <class Types, int Columns, class Exec>
class c_block {
  using C = typename Types::c;
  using T = typename Types::accumulator;
  using atom = backend::mma<Exec>;
  static constexpr int most_elements = 16 / int(sizeof(C));  ///< of a word
  static constexpr int rows = 16, row_bytes = Columns * int(sizeof(C)), vectors = row_bytes / 16;
  static_assert(Columns == 16 || Columns == 32);

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

  /// Updates C from row0 and column col0 of the tile on by a lane's sums (fragment, half of its rows, column). `reads`, which
  /// may be a constant, says whether the epilogue reads C. With `Bytes` the sums lie as those of elements of one byte do
  /// (warp_mma_short_accumulator). With `InVectors` it is known that C takes vectors. Epilogues are called for sums beside C
  /// too, with the place of the nearest element, and 0 for C.
  template <bool Bytes, bool InVectors = false, class Epilogue, class Reads>
  KERAMOS_FORCEINLINE_FUNCTION void update(const Epilogue& epilogue, Reads reads,
                                           const T (&sums)[Columns / 2], int row0, int col0) const {
    static_assert(sizeof(C) == 2);
    if (row0 + rows <= there_.row0 || row0 >= there_.row1 || col0 + Columns <= there_.col0 ||
        col0 >= there_.col1)
      return;
    // Else what follows from the lane would stay in registers, for words of each length.
    const int lane = InVectors ? lane_ : atom::opaque(lane_);
    if (reads) {
      copy<true, InVectors>(lane, row0, col0);
      atom::meet_warp();
      make<true, Bytes>(epilogue, sums, lane, row0, col0);
    } else {
      make<false, Bytes>(epilogue, sums, lane, row0, col0);
    }
    atom::meet_warp();
    copy<false, InVectors>(lane, row0, col0);
    atom::meet_warp();
  }

  /// Updates `Count` blocks by one code, whose registers `take(few, number)` sets for each number, a constant; `row0(b)` and
  /// `col0(b)` are where block b begins.
  template <int Count, bool Bytes, class Epilogue, class Take, class Row, class Column>
  KERAMOS_FORCEINLINE_FUNCTION void update_each(const Epilogue& epilogue, const Take& take, const Row& row0,
                                                const Column& col0) const {
    T few[Columns / 2];
    KERAMOS_NO_UNROLL
    for (int b = 0; b < Count; ++b) {
      with_number<Count>(b, [&](auto number) KERAMOS_INLINED {
        take(few, decltype(number)::value);
        KERAMOS_UNROLL
        for (T& sum : few) sum = atom::opaque(sum);
      });
      update<Bytes>(epilogue, reads_c<T>(epilogue), few, row0(b), col0(b));
    }
  }

 private:
  /// How many elements of a row of C one word has, so that words are aligned, and each lies inside of what is written or
  /// outside. 0 where columns are no neighbours.
  KERAMOS_FORCEINLINE_FUNCTION static int elements_of_word(const gemm_problem<Types>& p, index_t n0,
                                                           const tile_window& there) {
    if (p.c_col_stride != 1) return 0;
    const index_t multiple = (p.c_row_stride | n0 | there.col0 | there.col1) * index_t(sizeof(C)) |
                             index_t(reinterpret_cast<std::uintptr_t>(p.c));
    return multiple % 16 == 0 ? 8 : multiple % 8 == 0 ? 4 : multiple % 4 == 0 ? 2 : 1;
  }

  /// By how many vectors those of a row are moved: of rows with no bit in common the numbers have none either.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int moved(int row) { return row * vectors / 8 % vectors; }
  KERAMOS_FORCEINLINE_FUNCTION char* at(int row, int col) const {
    return first_ + row * row_bytes + ((col / 8) ^ moved(row)) * 16 + col % 8 * int(sizeof(C));
  }
  /// What lies `vectors_on` vectors behind x, if no bit of that number is set in the number of x's vector.
  KERAMOS_FORCEINLINE_FUNCTION char* beside(char* x, int vectors_on) const {
    return first_ + (int(x - first_) ^ vectors_on * 16);
  }

  template <bool Reads, bool Bytes, class Epilogue>
  KERAMOS_FORCEINLINE_FUNCTION void make(const Epilogue& epilogue, const T (&sums)[Columns / 2], int lane,
                                         int row0, int col0) const {
    constexpr int count = Bytes ? 4 : 2;  // neighbours that a lane has
    const int row = Bytes ? lane / 4 * 2 : lane / 4, col = lane % 4 * count;
    char* const first = at(row, col);
    KERAMOS_UNROLL
    for (int half = 0; half < 2; ++half) {
      const int of_half = Bytes ? half : 8 * half;  // rows of two neighbours have the same vectors
      const index_t i = m0_ + there_.near_row(row0 + row + of_half);
      KERAMOS_UNROLL
      for (int f = 0; f < Columns / 8; f += count / 2) {
        const auto near = reinterpret_cast<run<C, count>*>(beside(first, f) + of_half * row_bytes);
        run<C, count> x;
        if constexpr (Reads) x = load_at_once(near);
        KERAMOS_UNROLL
        for (int v = 0; v < count; ++v) {
          const T sum = Bytes ? sums[(f + v % 2) * 4 + half * 2 + v / 2] : sums[f * 4 + half * 2 + v];
          const index_t j = n0_ + there_.near_col(col0 + f * 8 + col + v);
          x.value[v] = Reads ? element_with_c(epilogue, p_.place, sum, x.value[v], i, j)
                             : element_without_c<C>(epilogue, p_.place, sum, i, j);
        }
        store_at_once(near->value, x);
      }
    }
  }

  /// From C to local memory, or back: what is there.
  template <bool Reads, bool InVectors>
  KERAMOS_FORCEINLINE_FUNCTION void copy(int lane, int row0, int col0) const {
    if (InVectors || takes_vectors())
      copy_words<Reads, most_elements>(lane, row0, col0);
    else if (word_ == 4)
      copy_words<Reads, 4>(lane, row0, col0);
    else if (word_ == 2)
      copy_words<Reads, 2>(lane, row0, col0);
    else if (word_ == 1)
      copy_words<Reads, 1>(lane, row0, col0);
    else
      copy_columns<Reads>(lane, row0, col0);
  }
  /// In words of so many elements, each row by lanes that follow each other.
  template <bool Reads, int Length>
  KERAMOS_FORCEINLINE_FUNCTION void copy_words(int lane, int row0, int col0) const {
    constexpr int lanes = Columns / Length, rows_at_once = 32 / lanes < rows ? 32 / lanes : rows;
    constexpr int count = rows / rows_at_once, at_once = count < 4 ? count : 4;
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
        of_c[u] = far, far += rows_at_once * p_.c_row_stride;
        are_there[u] = on >= begin && on < end;
      }
      move<Reads, Length>(near, of_c, are_there);
    }
  }
  /// Element by element, where columns lie apart: each by lanes that follow each other.
  template <bool Reads>
  KERAMOS_FORCEINLINE_FUNCTION void copy_columns(int lane, int row0, int col0) const {
    constexpr int at_once = 4, columns = 2;
    const int row = lane % rows, col = lane / rows;
    char* const first = at(row, col);
    const bool has_row = there_.has_row(row0 + row);
    C* far = p_.c + (m0_ + row0 + row) * p_.c_row_stride + (n0_ + col0 + col) * p_.c_col_stride;
    KERAMOS_NO_UNROLL
    for (int vector = 0; vector < vectors; ++vector) {
      char* near[at_once];
      C* of_c[at_once];
      bool are_there[at_once];
      KERAMOS_UNROLL
      for (int u = 0; u < at_once; ++u) {
        const int on = vector * 8 + u * columns;
        near[u] = beside(first, vector) + u * columns * int(sizeof(C));
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
    if constexpr (Length == 8) {
      unsigned x[Count][4] = {};
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (!Reads)
          atom::load_16_bytes(near[u], x[u]);
        else if (are_there[u])
          atom::read_16_bytes(far[u], x[u]);
      }
      KERAMOS_UNROLL
      for (int u = 0; u < Count; ++u) {
        if (Reads)
          atom::store_16_bytes(near[u], x[u]);
        else if (are_there[u])
          atom::write_16_bytes(far[u], x[u]);
      }
    } else {
      using word = std::conditional_t<Length == 4, std::uint64_t,
                                      std::conditional_t<Length == 2, std::uint32_t, std::uint16_t>>;
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

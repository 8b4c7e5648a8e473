// Blocks of a product without packing, and B's memory asked for block by block. Compiled per instruction set, like
// micro_kernel.hpp, which see.
#pragma once

#include <cstdint>

#include <keramos/backends/host/model.hpp>
#include <keramos/backends/host/vector.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

namespace model = backend::host::model;

/// Where a block of B is in the order of blocks.
struct block_order {
  std::int64_t next;  ///< elements of B from this block to the next one; 0: it is the last
  bool followed;      ///< the block before it has as many columns, so it could ask for all of this one
};

/// Calls f(part, order) for blocks of up to `most_k` of k and most_n(their k) columns. Those further along k add to C.
template <class Problem, class MostN, class F>
void for_each_block(const Problem& s, int most_k, const MostN& most_n, const F& f) {
  Problem part = s;
  int columns_before = 0;
  for (int k0 = 0; k0 < s.k; k0 += most_k) {
    part.k = s.k - k0 < most_k ? s.k - k0 : most_k;
    part.a = s.a + k0 * s.a_col_stride;
    if (k0 > 0) part.beta = decltype(part.beta)(1);
    const int most = most_n(part.k);
    for (int j = 0; j < s.n; j += most) {
      part.n = s.n - j < most ? s.n - j : most;
      part.b = s.b + k0 * s.b_row_stride + j * s.b_col_stride;
      part.c = s.c + j;
      const bool more = j + most < s.n;
      const std::int64_t next = more                ? most * s.b_col_stride
                                : k0 + most_k < s.k ? most_k * s.b_row_stride - j * s.b_col_stride
                                                    : 0;
      f(part, block_order{next, columns_before >= part.n});
      columns_before = part.n;
    }
  }
}

/// Calls f(part) for blocks of up to `most` rows.
template <class Problem, class F>
void for_each_rows(const Problem& s, int most, const F& f) {
  Problem part = s;
  for (int i = 0; i < s.m; i += part.m) {
    part.m = s.m - i < most ? s.m - i : most;
    part.a = s.a + i * s.a_row_stride;
    part.c = s.c + i * s.c_row_stride;
    f(part);
  }
}

/// Reads a byte of each line of `count` rows of `length` elements: the order of wide tiles, a step of k here and there, is none
/// that a prefetcher follows. Products of 48 x 48 doubles in no cache take 2.7 us so and 4 without; of cached ones it takes 5 %
/// longer.
template <class T>
void fetch(const T* rows, std::int64_t stride, int count, std::int64_t length) {
  constexpr int line = 64 / int(sizeof(T));
  if (stride == length) length *= count, count = 1;
  for (int i = 0; i < count; ++i, rows += stride)
#pragma GCC unroll 4
    for (std::int64_t j = 0; j < length; j += line)
      asm volatile("" ::"r"(*reinterpret_cast<const char*>(rows + j)));
}

/// Whether A's columns run through memory, and are longer than a line.
template <class Problem>
bool runs_along_m(const Problem& s) {
  return s.a_row_stride == 1 && s.a_col_stride != 1 && std::int64_t(s.m) * int(sizeof(*s.a)) > 64;
}

/// Calls f(part) for blocks of rows. While the columns of B pass by, panel after panel, a block of A stays in the second-level
/// cache, and C is written in few pages. An A whose columns run through memory is read in that order first: a line for each step
/// of k is none that a prefetcher follows. `panels`: whether B has several.
template <class Problem, class F>
void for_each_block_of_a(const Problem& s, bool panels, const F& f) {
  constexpr int size = sizeof(*s.a), multiple = 48;  // of all tiles' rows, and of a line's elements
  const bool along_m = runs_along_m(s);
  if (!panels && !along_m) return f(s);
  const int many = model::bytes_of_a_block / size / s.k / multiple;
  for_each_rows(s, (many > 1 ? many : 1) * multiple, [&](const Problem& part) {
    if (along_m) fetch(part.a, part.a_col_stride, part.k, part.m);
    f(part);
  });
}

/// What a tile asks for of the next block of B while it multiplies: in each step the same few lines of a row.
template <class T>
class asked_lines {
  static constexpr int line = 64 / int(sizeof(T));  ///< elements

 public:
  /// The part of tile `tile` of `tiles` that lie below each other, where rows of their B have `length` elements. `next`: as
  /// block_order's.
  asked_lines(std::int64_t next, int length, int tile, int tiles) {
    const int lines = (length + line - 1) / line, begin = lines * tile / tiles;
    offset_ = next + begin * line, count_ = lines * (tile + 1) / tiles - begin;
  }
  /// Asks, in the step that multiplies `row` of the tile's own B.
  void ask(const T* row) const {
    for (int i = 0; i < count_; ++i) __builtin_prefetch(row + offset_ + i * line);
  }

 private:
  std::int64_t offset_;
  int count_;
};

/// What a tile asks for of the rows of A of the next one while it multiplies: in each step a line, or two where elements have eight
/// bytes. So much a tile reads. Asked for all at once they would be waited for.
template <class T>
class asked_rows {
  static constexpr int line = 64 / int(sizeof(T)), lines_in_step = int(sizeof(T)) / 4;

 public:
  asked_rows(const T* rows, std::int64_t stride, int count, int length)
      : at_(rows), end_(rows + length), skip_(stride - length), stride_(stride), left_(count) {}
  /// Asks, in any step: where the tile's own B is does not matter.
  void ask(const T* /*row*/) const {
    for (int l = 0; l < lines_in_step && left_ > 0; ++l) {
      __builtin_prefetch(at_);
      at_ += line;
      if (at_ < end_) continue;
      at_ = end_ + skip_, end_ += stride_;
      --left_;
    }
  }

 private:
  mutable const T *at_, *end_;  // in the row that is asked for
  std::int64_t skip_, stride_;
  mutable int left_;  ///< rows
};

/// Columns of a block of B of `k` rows, in multiples of a tile's.
template <class T>
constexpr int block_columns(int k, int of_tile) {
  const int tiles = model::bytes_of_b_block / int(sizeof(T)) / k / of_tile;
  return (tiles > 1 ? tiles : 1) * of_tile;
}

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

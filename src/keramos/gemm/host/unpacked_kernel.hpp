// Products without packing, where to pack an operand would cost as much as to multiply it: small ones, and
// those with few rows, columns or products an element.
//
// C is covered by register tiles of up to max_rows x (Vectors vectors), as equal in height as can be, so
// that none has too few sums in flight to hide the latency of an FMA. What overhangs C on the right is
// masked: no lane outside the operands is read or written.
//
// Operands that are in no cache yet are left to the processor's prefetchers as far as these can follow. Zen 5's
// follow few rows of A at a time, through the same loads, and they follow plain accesses but not masked ones: where
// all are masked the tile asks for B and C itself. A plain store of a whole line of C does not even read the line,
// unless it was asked for. A product of 16 x 16 doubles takes 135 ns so, of floats 75; with one tile of all rows,
// masks throughout, and everything asked for or read before it was 290 and 175.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/backends/host/vector.hpp>
#include <keramos/gemm/host/kernel_table.hpp>
#include <keramos/gemm/host/pack.hpp>
#include <keramos/gemm/host/unpacked_blocks.hpp>

namespace keramos::detail::host::KERAMOS_HOST_ISA {

using namespace backend::host::KERAMOS_HOST_ISA;  // its vectors

template <class T>
class unpacked_kernel {
  using problem = unpacked_problem<T>;
  using v = simd<T>;
  using vector = typename v::vector;
  using first = typename v::first;

  /// Rows of the tallest tile: its sums, a row of B and an element of A fit in the registers.
  static constexpr int max_rows(int vectors) {
    constexpr int most[] = {12, 14, 8, 6};
    const int fit = (vector_registers - vectors - 1) / vectors;
    return fit < most[vectors - 1] ? fit : most[vectors - 1];
  }
  /// The same for a problem: of short rows of A a prefetcher does not follow as many.
  template <int Vectors>
  static int rows_for(const problem& s) {
    constexpr int most = max_rows(Vectors);
    constexpr int followed = model::rows_of_a_followed;
    return Vectors == 2 && s.k <= model::short_row_of_a && most > followed ? followed : most;
  }
  static constexpr bool few_registers = vector_registers < 32;  ///< as AVX2 and SSE2 have
  static constexpr int widest = few_registers ? 2 : 4;          ///< vectors of the widest tile

  /// Vector `w` of a row of `Vectors`, of which the last may be partly outside.
  template <bool Masked, int Vectors>
  static vector load(const T* row, int w, first lanes) {
    return Masked && w == Vectors - 1 ? lanes.load(row + w * v::lanes) : v::load(row + w * v::lanes);
  }
  template <bool Masked, int Vectors>
  static void store(T* row, int w, vector x, first lanes) {
    if (Masked && w == Vectors - 1)
      lanes.store(row + w * v::lanes, x);
    else
      v::store(row + w * v::lanes, x);
  }

  /// One tile; `lanes` are those of its last vector. `Ahead`: nothing, or what it asks for meanwhile.
  template <int Vectors, int Rows, bool Masked, class... Ahead>
  static void tile(const problem& s, const T* a, const T* b, T* c, first lanes, const Ahead&... ahead) {
    vector sums[Rows][Vectors];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int w = 0; w < Vectors; ++w) sums[i][w] = vector{};
    // Every fourth row of A has a pointer; from there an address reaches the next three for free. Left to itself the
    // compiler keeps an offset for each row, which are more than it has registers: hence the empty statements.
    constexpr int pointers = (Rows + 3) / 4;
    constexpr std::int64_t size = sizeof(T);
    const std::int64_t row = s.a_row_stride * size;
    std::int64_t three_rows = 3 * row, next_a = s.a_col_stride * size, next_b = s.b_row_stride * size;
    asm("" : "+r"(three_rows), "+r"(next_a), "+r"(next_b));
    constexpr bool all_masked = Masked && Vectors == 1;
    if constexpr (all_masked) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) __builtin_prefetch(c + i * s.c_row_stride);
    }
    const char* at[pointers];
#pragma GCC unroll 4
    for (int g = 0; g < pointers; ++g) at[g] = reinterpret_cast<const char*>(a) + 4 * g * row;
    for (int p = s.k; p > 0; --p) {
      if constexpr (all_masked) __builtin_prefetch(b);
      (ahead.ask(b), ...);
      vector row_of_b[Vectors];
#pragma GCC unroll 4
      for (int w = 0; w < Vectors; ++w) row_of_b[w] = load<Masked, Vectors>(b, w, lanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const T element = *reinterpret_cast<const T*>(at[i / 4] + (i % 4 == 3 ? three_rows : i % 4 * row));
#pragma GCC unroll 4
        for (int w = 0; w < Vectors; ++w) sums[i][w] += element * row_of_b[w];
      }
      b = reinterpret_cast<const T*>(reinterpret_cast<const char*>(b) + next_b);
#pragma GCC unroll 4
      for (int g = 0; g < pointers; ++g) {
        at[g] += next_a;
        asm("" : "+r"(at[g]));
      }
    }
    const std::int64_t c_row_stride = s.c_row_stride;
    const T alpha = s.alpha, beta = s.beta;  // C might alias s
    if (beta == T(0)) {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i, c += c_row_stride)
#pragma GCC unroll 4
        for (int w = 0; w < Vectors; ++w) store<Masked, Vectors>(c, w, alpha * sums[i][w], lanes);
    } else {
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i, c += c_row_stride)
#pragma GCC unroll 4
        for (int w = 0; w < Vectors; ++w)
          store<Masked, Vectors>(c, w, alpha * sums[i][w] + beta * load<Masked, Vectors>(c, w, lanes), lanes);
    }
  }

  template <class... Ahead>
  using tile_function = void(const problem& s, const T* a, const T* b, T* c, first lanes, const Ahead&...);

  /// The function for `rows` (from 1).
  template <int Vectors, bool Masked, class... Ahead>
  static tile_function<Ahead...>* tile_of(int rows) {
    static constexpr auto of = []<int... Row>(std::integer_sequence<int, Row...>) {
      struct {
        tile_function<Ahead...>* function[sizeof...(Row)];
      } table{{tile<Vectors, Row + 1, Masked, Ahead...>...}};
      return table;
    }
    (std::make_integer_sequence<int, max_rows(Vectors)>());
    return of.function[rows - 1];
  }

  /// What a column of tiles asks for besides its own operands.
  struct asked {
    bool a = false;           ///< the rows of A of the next tile
    bool c = false;           ///< C, which is asked for in any case if it is read
    std::int64_t next_b = 0;  ///< the next block of B, as block_order has it
  };

  /// All rows of the columns from j on that `Vectors` vectors cover.
  template <int Vectors, bool Masked>
  static void columns(const problem& s, int j, const asked& asks) {
    const int most = rows_for<Vectors>(s);
    const int width = s.n - j < Vectors * v::lanes ? s.n - j : Vectors * v::lanes;
    const first lanes(width - (Vectors - 1) * v::lanes);
    int tiles = (s.m + most - 1) / most;
    if (Vectors > 1 && s.m % tiles != 0 && s.m % (tiles + 1) == 0)
      ++tiles;  // all of one height: the same loads
    const int rows = s.m / tiles;
    int taller = s.m % tiles;
    const T *next_a = s.a, *b = s.b + j;
    T* next_c = s.c + j;
    for (int left = s.m, t = 0; left > 0; ++t) {
      const int height = rows + (taller-- > 0);
      const T* const a = next_a;
      T* const c = next_c;
      next_a += height * s.a_row_stride, next_c += height * s.c_row_stride, left -= height;
      const int next_height = left < most ? left : most;
      if (asks.c || s.beta != T(0)) ask(c, s.c_row_stride, height, width);
      if constexpr (Vectors == widest && !Masked)
        if (asks.next_b != 0) {
          tile_of<Vectors, Masked, asked_lines<T>>(height)(s, a, b, c, lanes, {asks.next_b, width, t, tiles});
          continue;
        }
      if constexpr (Vectors <= 2)
        if (asks.a) {
          tile_of<Vectors, Masked, asked_rows<T>>(height)(s, a, b, c, lanes,
                                                          {next_a, s.a_row_stride, next_height, s.k});
          continue;
        }
      if (asks.a) ask(next_a, s.a_row_stride, next_height, s.k);
      tile_of<Vectors, Masked>(height)(s, a, b, c, lanes);
    }
  }

  /// Columns from j on in tiles of `Vectors` vectors, and what is left of them in narrower ones.
  template <int Vectors>
  static void columns_from(const problem& s, int j, asked asks) {
    for (; j + Vectors * v::lanes <= s.n; j += Vectors * v::lanes, asks.a = false)
      columns<Vectors, false>(s, j, asks);
    if (s.n - j > (Vectors - 1) * v::lanes) return columns<Vectors, true>(s, j, asks);
    if constexpr (Vectors > 1)
      if (j < s.n) columns_from<Vectors - 1>(s, j, asks);
  }

  /// All of C if it is one tile of `Vectors` vectors.
  template <int Vectors>
  static bool single_tile(const problem& s) {
    const int last = s.n - (Vectors - 1) * v::lanes;
    if (last <= 0 || last > v::lanes || s.m > rows_for<Vectors>(s)) return false;
    auto* const tile = last < v::lanes ? tile_of<Vectors, true>(s.m) : tile_of<Vectors, false>(s.m);
    tile(s, s.a, s.b, s.c, first(last));
    return true;
  }

  /// Whether so little is done to an element of C that what counts is to write it row after row.
  static bool writes_rows(const problem& s) {
    const bool long_c = std::int64_t(s.m) * s.n * std::int64_t(sizeof(T)) > model::bytes_of_long_c;
    return s.k <= (few_registers && long_c ? model::most_k_of_wide_tile : model::few_columns_of_a);
  }

  /// B's rows run through memory.
  static void multiply_rows(const problem& s, bool asks_a, bool c_by_rows) {
    for_each_block_of_a(s, s.n > widest * v::lanes,
                        [&](const problem& part) { multiply_block_of_a(part, asks_a, c_by_rows); });
  }
  /// Of a wide tile's columns of B not much more fits in the first-level cache; and one pass over B beats two.
  static bool takes_narrow_tiles(int m, int n, int k) {
    return m > max_rows(widest) &&
           (k > model::most_k_of_wide_tile || (m <= max_rows(2) && n > widest * v::lanes));
  }
  static void multiply_block_of_a(const problem& s, bool asks_a, bool c_by_rows) {
    if (takes_narrow_tiles(s.m, s.n, s.k)) return columns_from<2>(s, 0, {.a = asks_a, .c = c_by_rows});
    if (!c_by_rows || s.n <= widest * v::lanes) return columns_from<widest>(s, 0, {.a = asks_a});
    for_each_rows(s, max_rows(widest),
                  [](const problem& part) { columns_from<widest>(part, 0, {.c = true}); });
  }

  static constexpr int line = 64 / int(sizeof(T));  ///< elements of a cache line

  /// Asks for `count` rows of `length`, a line after the other. (Unrolled it takes longer, fetch does not.)
  static void ask(const T* rows, std::int64_t stride, int count, std::int64_t length) {
    if (stride == length) length *= count, count = 1;
    for (int i = 0; i < count; ++i, rows += stride)
      for (std::int64_t j = 0; j < length; j += line) __builtin_prefetch(rows + j);
  }

  // Elements of backends/host/model.hpp's bytes.
  static constexpr int long_row = model::long_row_bytes / int(sizeof(T));
  static constexpr int laid_out = model::bytes_laid_out / int(sizeof(T));
  static constexpr int most_asked_k = model::most_asked_bytes / int(sizeof(T));
  /// Whether prefetchers do not follow A's rows, of which a tile reads several at once.
  static bool has_short_rows(const problem& s) { return s.k <= most_asked_k; }

  static constexpr int rows_of_b_block = few_registers ? model::rows_of_b_block_avx2 : model::rows_of_b_block;
  /// Blocks of B of so few rows are read first, and C is written row after row.
  static constexpr int most_k_by_rows = few_registers ? rows_of_b_block : model::few_columns_of_a;

 public:
  static constexpr int few_products = few_registers ? model::few_products_avx2 : model::few_products;

  /// Vectors that a step of k multiplies. A tile of few of them waits for sums, and takes as long as `least`.
  static std::int64_t vectors_of_step(int m, int n, int k) {
    constexpr int least = 8;
    const auto of_tiles = [m](int vectors) {
      const int most = max_rows(vectors), tiles = (m + most - 1) / most, rows = m / tiles, taller = m % tiles;
      const auto of_tile = [vectors](int rows) { return rows * vectors > least ? rows * vectors : least; };
      return std::int64_t(tiles - taller) * of_tile(rows) + std::int64_t(taller) * of_tile(rows + 1);
    };
    const int all = (n + v::lanes - 1) / v::lanes, wide = takes_narrow_tiles(m, n, k) ? 2 : widest;
    return all / wide * of_tiles(wide) + (all % wide > 0 ? of_tiles(all % wide) : 0);
  }

  /// C = alpha·A·B + beta·C; k in blocks, which add to C one after another, if B is too large to stay in
  /// the cache from one row to the next.
  static void multiply(const problem& s) {
    if (s.b_col_stride == 1 && (single_tile<1>(s) || single_tile<2>(s)))
      return;  // the least way for the smallest, without room for more on the stack
    multiply_tiles(s);
  }

 private:
  [[gnu::noinline]] static void multiply_tiles(const problem& s) {
    if (s.b_col_stride != 1) return multiply_columns(s);
    const std::int64_t bytes_of_b = std::int64_t(s.k) * s.n * std::int64_t(sizeof(T));
    if (bytes_of_b <= model::cached_bytes_of_b) {
      if (runs_along_m(s) && s.k > model::most_k_of_part)
        return for_each_block(
            s, model::most_k_of_part, [&](int) { return s.n; },
            [](const problem& part, const block_order&) { multiply_rows(part, false, writes_rows(part)); });
      const bool wide = s.n > widest * v::lanes;  // or B is read from its first line to its last anyway
      if (wide) fetch(s.b, s.b_row_stride, s.k, s.n);
      return multiply_rows(s, s.a_col_stride == 1 && (wide || has_short_rows(s)), writes_rows(s));
    }
    if (s.m <= 2) {  // what is read no more than twice is not worth reading ahead
      for_each_block(
          s, s.n > long_row ? model::long_rows_together : model::short_rows_together,
          [&](int) { return s.n; },
          [](const problem& part, const block_order&) { multiply_rows(part, false, writes_rows(part)); });
      return;
    }
    for_each_block(
        s, s.n <= widest * v::lanes ? 2 * rows_of_b_block : rows_of_b_block,
        [](int k) { return block_columns<T>(k, widest * v::lanes); },
        [](const problem& part, const block_order& order) {
          const bool by_rows = part.k <= most_k_by_rows;
          if (by_rows || !order.followed) fetch(part.b, part.b_row_stride, part.k, part.n);
          if (by_rows) return multiply_rows(part, false, true);
          const asked asks{.next_b = order.next};
          if (!runs_along_m(part)) return columns_from<widest>(part, 0, asks);
          for_each_block_of_a(part, true, [&](const problem& rows) { columns_from<widest>(rows, 0, asks); });
        });
  }

  /// B's rows do not run through memory: blocks of columns are laid out so first, on the stack.
  static void multiply_columns(const problem& s) {
    alignas(64) T block[laid_out];
    for_each_block(
        s, model::most_k_of_part, [](int k) { return laid_out / k / v::lanes * v::lanes; },
        [&](problem part, const block_order& order) {
          const int width = (part.n + v::lanes - 1) / v::lanes * v::lanes;
          const T* const next = part.b + order.next;
          if (s.b_row_stride == 1) {
            for (int i = 0; i < part.n; i += v::lanes)
              pack_transposed<T, v::lanes>(block + i, width, part.b + i * s.b_col_stride, s.b_col_stride,
                                           part.n - i, part.k);
          } else {
            pack_rows(block, width, part.b, s.b_col_stride, s.b_row_stride, part.n, part.k);
          }
          if (s.b_row_stride == 1 && order.next != 0 && part.k <= most_asked_k)
            ask(next, s.b_col_stride, part.n, part.k);
          part.b = block, part.b_row_stride = width, part.b_col_stride = 1;
          multiply_rows(part, part.a_col_stride == 1 && has_short_rows(part), writes_rows(part));
        });
  }
};

}  // namespace keramos::detail::host::KERAMOS_HOST_ISA

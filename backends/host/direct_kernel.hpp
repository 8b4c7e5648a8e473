// Products without packing, where to pack an operand would cost as much as to multiply it: small ones, and
// those with few rows, columns or products an element.
//
// C is covered by register tiles of up to max_rows x (Vectors vectors), as equal in height as can be, so
// that none has too few sums in flight to hide the latency of an FMA. What overhangs C on the right is
// masked: no lane outside the operands is read or written.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <cstdint>
#include <utility>

#include <keramos/backends/host/kernel_table.hpp>
#include <keramos/backends/host/pack.hpp>
#include <keramos/backends/host/vector.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA {

template <class T>
class direct_kernel {
  using problem = direct_problem<T>;
  using v = simd<T>;
  using vector = typename v::vector;
  using first = typename v::first;

  /// Rows of the tallest tile: its sums, a row of B and an element of A fit in the registers.
  static constexpr int max_rows(int vectors) {
    const int fit = (vector_registers - vectors - 1) / vectors;
    return fit < 16 ? fit : 16;
  }
  static constexpr int widest = vector_registers >= 32 ? 4 : 2;  ///< vectors of the widest tile

  /// i times the stride as an odd multiple, made once, times a power of two that addresses have for free.
  template <int Rows>
  struct row_offsets {
    std::int64_t odd[(Rows + 1) / 2];
    explicit row_offsets(std::int64_t stride) {
#pragma GCC unroll 16
      for (int i = 0; i < (Rows + 1) / 2; ++i) odd[i] = (2 * i + 1) * stride;
    }
    std::int64_t operator[](int i) const {
      return i == 0 ? 0 : odd[(i >> __builtin_ctz(unsigned(i))) / 2] << __builtin_ctz(unsigned(i));
    }
  };

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

  /// One tile; `lanes` are those of its last vector.
  template <int Vectors, int Rows, bool Masked>
  static void tile(const problem& s, const T* a, const T* b, T* c, first lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)  // C arrives while the products are formed
#pragma GCC unroll 4
      for (int w = 0; w < Vectors; ++w) __builtin_prefetch(c + i * s.c_row_stride + w * v::lanes, 1);
    vector sums[Rows][Vectors];
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int w = 0; w < Vectors; ++w) sums[i][w] = vector{};
    const row_offsets<Rows> row_of(s.a_row_stride * std::int64_t(sizeof(T)));
    const std::int64_t next_a = s.a_col_stride, next_b = s.b_row_stride;
    for (int p = s.k; p > 0; --p, a += next_a, b += next_b) {
      vector row[Vectors];
#pragma GCC unroll 4
      for (int w = 0; w < Vectors; ++w) row[w] = load<Masked, Vectors>(b, w, lanes);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i) {
        const T element = *reinterpret_cast<const T*>(reinterpret_cast<const char*>(a) + row_of[i]);
#pragma GCC unroll 4
        for (int w = 0; w < Vectors; ++w) sums[i][w] += element * row[w];
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

  using tile_function = void(const problem& s, const T* a, const T* b, T* c, first lanes);

  /// The function for `rows` (from 1).
  template <int Vectors, bool Masked>
  static tile_function* tile_of(int rows) {
    static constexpr auto of = []<int... Row>(std::integer_sequence<int, Row...>) {
      struct {
        tile_function* function[sizeof...(Row)];
      } table{{tile<Vectors, Row + 1, Masked>...}};
      return table;
    }
    (std::make_integer_sequence<int, max_rows(Vectors)>());
    return of.function[rows - 1];
  }

  /// All rows of the columns from j on that `Vectors` vectors cover.
  template <int Vectors, bool Masked>
  static void columns(const problem& s, int j) {
    constexpr int most = max_rows(Vectors);
    const int left = s.n - j - (Vectors - 1) * v::lanes;
    const first lanes(left < v::lanes ? left : v::lanes);
    int tiles = 1;
    for (int covered = most; covered < s.m; covered += most) ++tiles;
    const int rows = tiles == 1 ? s.m : s.m / tiles;
    int taller = tiles == 1 ? 0 : s.m % tiles;
    const T* b = s.b + j;
    for (int i = 0; i < s.m;) {
      const int height = rows + (taller-- > 0);
      tile_of<Vectors, Masked>(height)(s, s.a + i * s.a_row_stride, b, s.c + i * s.c_row_stride + j, lanes);
      i += height;
    }
  }

  /// Columns from j on in tiles of `Vectors` vectors, and what is left of them in narrower ones.
  template <int Vectors>
  static void columns_from(const problem& s, int j) {
    constexpr bool masked = v::first_is_free;  // one function then serves both
    for (; j + Vectors * v::lanes <= s.n; j += Vectors * v::lanes) columns<Vectors, masked>(s, j);
    if (s.n - j > (Vectors - 1) * v::lanes) return columns<Vectors, true>(s, j);
    if constexpr (Vectors > 1)
      if (j < s.n) columns_from<Vectors / 2>(s, j);
  }

  /// All of C if it is one tile of `Vectors` vectors.
  template <int Vectors>
  static bool single_tile(const problem& s) {
    if (s.n > Vectors * v::lanes || s.m > max_rows(Vectors)) return false;
    const int last = s.n - (Vectors - 1) * v::lanes;
    auto* const tile =
        v::first_is_free || last < v::lanes ? tile_of<Vectors, true>(s.m) : tile_of<Vectors, false>(s.m);
    tile(s, s.a, s.b, s.c, first(last));
    return true;
  }

  /// B's rows run through memory.
  static void multiply_rows(const problem& s) {
    if (single_tile<1>(s) || single_tile<2>(s)) return;  // the least way for the smallest
    if (s.m <= max_rows(widest)) return columns_from<widest>(s, 0);
    if (s.k > few_columns || s.n <= 2 * v::lanes) return columns_from<2>(s, 0);
    // Little is done to an element of C, so what counts is that it is written row after row.
    problem part = s;
    for (int i = 0; i < s.m; i += part.m) {
      constexpr int most = max_rows(widest);
      part.m = s.m - i < most ? s.m - i : most;
      part.a = s.a + i * s.a_row_stride;
      part.c = s.c + i * s.c_row_stride;
      columns_from<widest>(part, 0);
    }
  }

  /// Reads a line after the other. The tiles' order, a step of k here and there, is one that no prefetcher follows:
  /// of operands that are in no cache, a product of 8 x 8 doubles takes 40 ns so and 93 without, one of 96 x 96 20 us
  /// and 42 (Zen 5); of cached ones it takes 3 to 6 % longer.
  static void fetch(const T* rows, std::int64_t stride, int count, std::int64_t length) {
    constexpr int line = 64 / int(sizeof(T));
    if (stride == length) length *= count, count = 1;
    for (int i = 0; i < count; ++i, rows += stride)
#pragma GCC unroll 4
      for (std::int64_t j = 0; j < length; j += line)
        asm volatile("" ::"r"(*reinterpret_cast<const char*>(rows + j)));
  }

  static constexpr int few_columns = 32;              ///< of A
  static constexpr std::int64_t cached = 256 * 1024;  ///< bytes that stay in the second-level cache
  static constexpr int fetched = 32 * 1024;  ///< bytes of a block of a larger B, for the first-level cache
  static constexpr int packed = 64 * 1024 / int(sizeof(T));  ///< elements of B packed at a time

 public:
  /// C = alpha·A·B + beta·C; k in blocks, which add to C one after another, if B is too large to stay in
  /// the cache from one row to the next.
  static void multiply(const problem& s) {
    if (s.b_col_stride != 1) return multiply_columns(s);
    const std::int64_t bytes_of_b = std::int64_t(s.k) * s.n * std::int64_t(sizeof(T));
    if (bytes_of_b <= cached) {
      fetch(s.b, s.b_row_stride, s.k, s.n);
      if (s.a_col_stride == 1 && std::int64_t(s.m) * s.k * std::int64_t(sizeof(T)) <= cached)
        fetch(s.a, s.a_row_stride, s.m, s.k);
      return multiply_rows(s);
    }
    problem part = s;
    const int most_k = s.n <= widest * v::lanes ? 256 : 64;
    const bool once = s.m <= 2;  // what is read no more than twice is not worth reading ahead
    const int most_n = once ? s.n : fetched / int(sizeof(T)) / most_k;
    for (int k0 = 0; k0 < s.k; k0 += most_k) {
      part.k = s.k - k0 < most_k ? s.k - k0 : most_k;
      part.a = s.a + k0 * s.a_col_stride;
      if (k0 > 0) part.beta = T(1);
      for (int j = 0; j < s.n; j += most_n) {
        part.n = s.n - j < most_n ? s.n - j : most_n;
        part.b = s.b + k0 * s.b_row_stride + j;
        part.c = s.c + j;
        if (!once) fetch(part.b, part.b_row_stride, part.k, part.n);
        multiply_rows(part);
      }
    }
  }

 private:
  /// B's rows do not run through memory: blocks of columns are laid out so first, on the stack.
  static void multiply_columns(const problem& s) {
    alignas(64) T block[packed];
    problem part = s;
    part.b = block;
    part.b_col_stride = 1;
    part.k = s.k < 512 ? s.k : 512;
    for (int k0 = 0; k0 < s.k; k0 += part.k) {
      if (s.k - k0 < part.k) part.k = s.k - k0;
      part.a = s.a + k0 * s.a_col_stride;
      if (k0 > 0) part.beta = T(1);
      const int most = packed / part.k / v::lanes * v::lanes;
      for (int j = 0; j < s.n; j += most) {
        part.n = s.n - j < most ? s.n - j : most;
        part.c = s.c + j;
        const int width = (part.n + v::lanes - 1) / v::lanes * v::lanes;
        part.b_row_stride = width;
        const T* from = s.b + k0 * s.b_row_stride + j * s.b_col_stride;
        if (s.b_row_stride == 1) {
          for (int i = 0; i < part.n; i += v::lanes)
            pack_transposed<T, v::lanes>(block + i, width, from + i * s.b_col_stride, s.b_col_stride,
                                         part.n - i, part.k);
        } else {
          pack_rows(block, width, from, s.b_col_stride, s.b_row_stride, part.n, part.k);
        }
        multiply_rows(part);
      }
    }
  }
};

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA

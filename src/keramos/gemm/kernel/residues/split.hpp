// Operands as remainders.
#pragma once

#include <cmath>
#include <cstdint>

#include <keramos/base/macros.hpp>
#include <keramos/core/group.hpp>
#include <keramos/gemm/kernel/residues/accuracy.hpp>
#include <keramos/gemm/kernel/residues/moduli.hpp>
#include <keramos/tile/lines.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::residues {

/// An operand's remainders: modulus by modulus `rows` rows of `pitch` numbers along k, all of them in lines (tile/lines.hpp).
/// What is behind the operand's rows and columns is zero.
struct layout {
  index_t rows, pitch;

  static layout of(index_t extent, index_t k) {
    return {(extent + 15) / 16 * 16, (k + 127) / 128 * 128};  // of vectors; of tiles' k
  }
  std::size_t bytes(int count) const { return std::size_t(count) * std::size_t(rows) * std::size_t(pitch); }
};

/// A group reads a block of an operand along its memory and writes it along k.
template <class T, class Exec>
struct split_kernel {
  static constexpr int rows = 16, columns = 128, items = 256, each = rows * columns / items;
  /// Behind each eight columns one is left free, so that items that read eight each read from all banks.
  using group =
      keramos::group<local_range<items, 1>,
                     local_memory<padded_local_array<std::int64_t, 1, rows, columns / 8 * 9>>, Exec>;
  static constexpr int groups_per_unit = 4;

  tiling::operand<T> x;
  index_t extent, k;
  const int* exponents;
  const residues::choice* choice;
  std::uint64_t* to;  ///< eight remainders each
  layout at;
  int most_moduli;  ///< for which there is room

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group& g) const {
    static_assert(columns == tiling::lines<integer8>::length && rows % 8 == 0);
    const int count = choice->count, bits = choice->bits;
    if (count == 0) return;
    const tiling::operand<T> from = x;
    const index_t mn0 = g.get_group_id(0) * rows, k0 = g.get_group_id(1) * columns;
    const int rows_here = int(extent - mn0 < rows ? extent - mn0 : rows);
    const int columns_here = int(k - k0 < columns ? k - k0 : columns);
    const int* const of_rows = exponents + mn0;
    const auto block = g.template local<0>();
    const bool along_k = from.stride_k == 1;
    g.parallel_for_work_item([=](h_item it) {
      KERAMOS_UNROLL
      for (int r = 0; r < each; ++r) {
        const int i = along_k ? it.i / columns + r * (items / columns) : it.i % rows;
        const int p = along_k ? it.i % columns : it.i / rows + r * (items / rows);
        std::int64_t integer = 0;
        if (i < rows_here && p < columns_here && of_rows[i] != no_exponent) {
          const int shift = bits - of_rows[i];
          const double value =
              double(*from.at(mn0 + i, k0 + p)) * power(shift / 2) * power(shift - shift / 2);
          integer = std::int64_t(std::rint(value));
        }
        block(i, p + p / 8) = integer;
      }
    });
    g.barrier();
    const index_t step = at.rows * columns / 8;
    std::uint64_t* const out = to + tiling::lines<integer8>{most_moduli * at.rows}.offset(mn0, k0) / 8;
    g.parallel_for_work_item([=](h_item it) {
      const int i = it.i / (columns / 8), p = it.i % (columns / 8);
      std::int64_t integers[8];
      KERAMOS_UNROLL
      for (int v = 0; v < 8; ++v) integers[v] = block(i, 9 * p + v);
      std::uint64_t* const row = out + i * (columns / 8) + tiling::lines<integer8>::swizzled(i, 8 * p) / 8;
      if (bits <= 28) {
        std::int32_t small[8];
        KERAMOS_UNROLL
        for (int v = 0; v < 8; ++v) small[v] = std::int32_t(integers[v]);
        store_remainders(row, step, small, count);
      } else {
        limbs large[8];
        KERAMOS_UNROLL
        for (int v = 0; v < 8; ++v) large[v] = limbs::of(integers[v]);
        store_remainders(row, step, large, count);
      }
    });
  }

 private:
  template <class Integer>
  KERAMOS_FORCEINLINE_FUNCTION static void store_remainders(std::uint64_t* row, index_t step,
                                                            const Integer (&x)[8], int count) {
    for_each_modulus([&](auto number) {
      if (number.value >= count) return;
      std::uint32_t four[2] = {};
      KERAMOS_UNROLL
      for (int v = 0; v < 8; ++v) four[v / 4] += remainder<number.value>(x[v]) << 8 * (v % 4);
      row[number.value * step] = std::uint64_t(four[1]) << 32 | four[0];
    });
  }
};

}  // namespace keramos::detail::residues

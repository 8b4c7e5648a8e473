// From remainders of a product to C.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include <keramos/base/macros.hpp>
#include <keramos/core/group.hpp>
#include <keramos/gemm/epilogue/placed.hpp>
#include <keramos/gemm/kernel/residues/accuracy.hpp>
#include <keramos/gemm/kernel/residues/moduli.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail::residues {

/// Where remainders of a product are: those of A's and of B's modulus number l are rows l·a_rows ... of one matrix and columns
/// l·b_rows ... of another, so that all products are blocks on the diagonal of a large one. Its rows are b_rows apart, so
/// no more memory is used than blocks need: block l begins l·(a_rows + 1) rows on.
struct product_layout {
  index_t a_rows, b_rows;
  std::size_t bytes(int count) const {
    return std::size_t(count) * std::size_t(a_rows + 1) * std::size_t(b_rows);
  }
};

/// Blocks of C, four neighbours of a row at a time: their integers by the Chinese remainder theorem, scaled, through the
/// epilogue.
template <class Types, class Epilogue, class Exec>
struct combine_kernel {
  static constexpr int each = 4, across = 32, rows = 8, columns = each * across, items = rows * across;
  using T = typename Types::accumulator;
  using group =
      keramos::group<local_range<items, 1>, local_memory<local_array<double, 2, most_moduli>>, Exec>;

  gemm_problem<Types> p;
  Epilogue epilogue;
  const std::uint32_t* products;  ///< four remainders each
  product_layout at;
  const int *exponents_a, *exponents_b;
  const residues::choice* choice;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group& g) const {
    const int count = choice->count;
    if (count == 0) return;
    const auto weights = g.template local<0>();
    const residues::choice* const from = choice;
    g.parallel_for_work_item([=](h_item it) {
      if (it.i < count) weights(0, it.i) = from->high[it.i], weights(1, it.i) = from->low[it.i];
    });
    g.barrier();
    const index_t i0 = g.get_group_id(0) * rows, j0 = g.get_group_id(1) * columns;
    const combine_kernel& kernel = *this;
    g.parallel_for_work_item([=](h_item it) {
      const index_t i = i0 + it.i / across, j = j0 + it.i % across * each;
      if (i < kernel.p.m && j < kernel.p.n) kernel.combine(i, j, count, weights);
    });
  }

 private:
  template <class Weights>
  KERAMOS_FORCEINLINE_FUNCTION void combine(index_t i, index_t j, int count, const Weights& weights) const {
    const index_t pitch = at.b_rows / each, step = (at.a_rows + 1) * pitch;
    const std::uint32_t* from = products + i * pitch + j / each;
    double whole[each] = {}, rest[each] = {};
    for (int l = 0; l < count; ++l, from += step) {
      const std::uint32_t four = *from;
      const double high = weights(0, l), low = weights(1, l);
      KERAMOS_UNROLL
      for (int v = 0; v < each; ++v) {
        const double r = number(four >> 8 * v & 255);
        whole[v] += r * high;
        rest[v] += r * low;
      }
    }
    const int row = exponent(exponents_a[i]) - 2 * choice->bits;
    KERAMOS_UNROLL
    for (int v = 0; v < each; ++v) {
      if (j + v >= p.n) continue;
      const double fraction = whole[v] - std::rint(whole[v]);
      const T value =
          static_cast<T>(std::ldexp(times_product(fraction, rest[v]), row + exponent(exponents_b[j + v])));
      write_element(epilogue, p.place, value, p.c[i * p.c_row_stride + (j + v) * p.c_col_stride], i, j + v);
    }
  }

  KERAMOS_FORCEINLINE_FUNCTION static int exponent(int e) { return e == no_exponent ? 0 : e; }

  /// x, from the bits of 2^52 + x: GPUs convert integers four times as slowly as they add.
  KERAMOS_FORCEINLINE_FUNCTION static double number(std::uint32_t x) {
    const std::uint64_t bits = std::uint64_t(0x43300000) << 32 | x;
    double y;
    ::memcpy(&y, &bits, sizeof(y));
    return y - 0x1p52;
  }

  /// (x + y)·P, rounded once: what is rounded before is 2^-53 of what is rounded last.
  KERAMOS_FORCEINLINE_FUNCTION double times_product(double x, double y) const {
    const double high = x + y, of_y = high - x, low = (x - (high - of_y)) + (y - of_y);
    return std::fma(high, choice->product, high * choice->product_rest + low * choice->product);
  }
};

}  // namespace keramos::detail::residues

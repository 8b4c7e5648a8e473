// How many bits of elements a product needs, and so how many moduli: found on the device, where the products that follow
// read it. The host is not asked.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include <keramos/base/macros.hpp>
#include <keramos/core/atomic_ref.hpp>
#include <keramos/core/functional.hpp>
#include <keramos/core/group.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/gemm/kernel/residues/moduli.hpp>
#include <keramos/tile/shape.hpp>

namespace keramos::detail::residues {

/// Exponents of rows without an element other than zero, and with an infinity or NaN.
inline constexpr int no_exponent = -5000, not_finite = 5000;

/// The least e with |x| < 2^e, of numbers below 2^-1022 an upper bound.
KERAMOS_FORCEINLINE_FUNCTION int exponent_of(double x) {
  std::uint64_t bits;
  ::memcpy(&bits, &x, sizeof(bits));
  bits &= ~std::uint64_t(0) >> 1;
  if (bits == 0) return no_exponent;
  const int biased = int(bits >> 52);
  return biased == 2047 ? not_finite : (biased == 0 ? 1 : biased) - 1022;
}
/// 2^e, which must be a normal number.
KERAMOS_FORCEINLINE_FUNCTION double power(int e) {
  const std::uint64_t bits = std::uint64_t(1023 + e) << 52;
  double x;
  ::memcpy(&x, &bits, sizeof(x));
  return x;
}

/// For each row of an operand (its index mn) the largest exponent of its elements joins what is there.
template <class T, class Exec>
struct exponents_kernel {
  static constexpr int rows = 64, columns = 512;  ///< of a group
  static constexpr int items = 256, warp = 32;
  using group = keramos::group<local_range<items, 1>, local_memory<local_array<int, rows>>, Exec>;

  tiling::operand<T> x;
  index_t extent, k;
  int* exponents;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group& g) const {
    const tiling::operand<T> from = x;
    const index_t mn0 = g.get_group_id(0) * rows, k0 = g.get_group_id(1) * columns;
    const int rows_here = int(extent - mn0 < rows ? extent - mn0 : rows);
    const int columns_here = int(k - k0 < columns ? k - k0 : columns);
    int* const to = exponents + mn0;
    const auto largest = g.template local<0>();
    g.parallel_for_work_item([=](h_item it) {
      if (it.i < rows) largest(it.i) = no_exponent;
    });
    g.barrier();
    // Items beside each other read along the operand's memory.
    const bool along_k = from.stride_k == 1;
    g.parallel_for_work_item([=](h_item it) {
      const int first = along_k ? it.i / warp : it.i % rows, rows_step = along_k ? items / warp : rows;
      const int column = along_k ? it.i % warp : it.i / rows, columns_step = along_k ? warp : items / rows;
      for (int i = first; i < rows_here; i += rows_step) {
        double most = 0;
        bool finite = true;
        for (int p = column; p < columns_here; p += columns_step) {
          const double value = std::fabs(double(*from.at(mn0 + i, k0 + p)));
          finite = finite && value - value == 0;
          most = value > most ? value : most;
        }
        atomic_ref<int, memory_order::relaxed, memory_scope::work_group>(largest(i))
            .fetch_max(finite ? exponent_of(most) : not_finite);
      }
    });
    g.barrier();
    g.parallel_for_work_item([=](h_item it) {
      if (it.i < rows_here)
        atomic_ref<int, memory_order::relaxed, memory_scope::device>(to[it.i]).fetch_max(largest(it.i));
    });
  }
};

/// Samples of each row: squares of some elements over that of 2^exponent, and about the sum of all.
inline constexpr int samples = 32;

template <class T>
struct samples_kernel {
  tiling::operand<T> x;
  index_t extent, k;
  const int* exponents;
  float* squares;  ///< (sample, row)
  float* sums;     ///< (row)

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1> at) const {
    const index_t row = at;
    const int exponent = exponents[row];
    const bool usable = exponent != no_exponent && exponent != not_finite;
    float sum = 0;
    for (int s = 0; s < samples; ++s) {
      // One of each of `samples` equal parts of k, or each element once.
      const index_t begin = k * s / samples, end = k * (s + 1) / samples;
      const index_t p =
          begin + index_t(std::uint32_t(s) * 2654435761u >> 4) % (end - begin > 0 ? end - begin : 1);
      float x2 = 0;
      if (usable && end > begin) {
        const auto ratio = float(std::ldexp(double(*x.at(row, p)), -exponent));
        x2 = ratio * ratio;
      }
      squares[s * extent + row] = x2;
      sum += x2;
    }
    // The largest element is at least half of 2^exponent.
    sums[row] = usable ? .25f + sum * (float(k) / float(k < samples ? k : samples)) : 0;
  }
};

inline constexpr float infinity = std::numeric_limits<float>::infinity();

/// Joins the bits that elements of a product need to `need`.
///
/// Rounded to `bits` bits, terms of c = Σ ab have errors of at most 2^-bits (|a|·2^f + |b|·2^e), with e and f the exponents
/// of their row and column. By chance they come to 2^-bits·sqrt((‖a‖²4^f + ‖b‖²4^e) / 3). The errors of a sum that is formed
/// in precision u, one term after the other, come to u·sqrt(k/2·Σ(ab)² / 3), since sums grow as sqrt(Σ(ab)²) of the terms so
/// far. `bits` makes the first a quarter of the second, for all elements of the product. Σ(ab)² is known from samples: the
/// largest sample counts once, for it may have no like, the others for all.
template <class Exec>
struct accuracy_kernel {
  // 8 x 8 an item takes 223 registers, so that few items run at once: 941 us instead of 606 at n = 8192 on an H100.
  static constexpr int tile = 64, each = 4;
  static constexpr int across = tile / each, items = across * across;
  using group =
      keramos::group<local_range<items, 1>,
                     local_memory<local_array<float, samples, tile>, local_array<float, samples, tile>>,
                     Exec>;

  index_t m, n, k;
  const int *exponents_a, *exponents_b;
  const float *squares_a, *squares_b, *sums_a, *sums_b;
  int precision;  ///< bits of a sum's mantissa
  int* need;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group& g) const {
    const index_t i0 = g.get_group_id(0) * tile, j0 = g.get_group_id(1) * tile, rows = m, columns = n;
    const auto a = g.template local<0>();
    const auto b = g.template local<1>();
    const float *from_a = squares_a, *from_b = squares_b, *all_a = sums_a, *all_b = sums_b;
    const int *of_a = exponents_a, *of_b = exponents_b;
    g.parallel_for_work_item([=](h_item it) {
      for (int e = it.i; e < samples * tile; e += items) {
        const int s = e / tile, i = e % tile;
        a(s, i) = i0 + i < rows ? from_a[s * rows + i0 + i] : 0;
        b(s, i) = j0 + i < columns ? from_b[s * columns + j0 + i] : 0;
      }
    });
    g.barrier();
    const float count = float(k < samples ? k : samples), others = float(k) / count - 1,
                half_k = float(k) / 2;
    auto ratio = g.make_private(0.0f);
    g.parallel_for_work_item(
        [=](h_item it, float& worst) {
          float sum[each][each] = {}, most[each][each] = {};
          // Neighbours read neighbours: of banks each has its own.
          const int i1 = it.i / across, j1 = it.i % across;
          for (int s = 0; s < samples; ++s) {
            KERAMOS_UNROLL
            for (int i = 0; i < each; ++i) KERAMOS_UNROLL
            for (int j = 0; j < each; ++j) {
              const float x = a(s, i1 + i * across) * b(s, j1 + j * across);
              sum[i][j] += x;
              most[i][j] = x > most[i][j] ? x : most[i][j];
            }
          }
          KERAMOS_UNROLL
          for (int i = 0; i < each; ++i) KERAMOS_UNROLL
          for (int j = 0; j < each; ++j) {
            const index_t row = i0 + i1 + i * across, column = j0 + j1 + j * across;
            if (row >= rows || column >= columns) continue;
            if (of_a[row] == not_finite || of_b[column] == not_finite) worst = infinity;
            if (of_a[row] == no_exponent || of_b[column] == no_exponent) continue;
            const float terms = half_k * (sum[i][j] + others * (sum[i][j] - most[i][j]));
            const float here = terms > 0 ? (all_a[row] + all_b[column]) / terms : infinity;
            worst = here > worst ? here : worst;
          }
        },
        ratio);
    const float worst = reduce_over_group(g, ratio, maximum{});
    int* const to = need;
    const int bits = precision;
    g.parallel_for_work_item([=](h_item it) {
      if (it.i != 0) return;
      const bool finite = worst < infinity;
      const int needed = !finite     ? not_finite
                         : worst > 0 ? bits + 2 + int(std::ceil(std::log2(worst) / 2))
                                     : 1;
      atomic_ref<int, memory_order::relaxed, memory_scope::device>(*to).fetch_max(needed);
    });
  }
};

/// x with a·x = 1 modulo m.
KERAMOS_FORCEINLINE_FUNCTION int inverse(int a, int m) {
  int r0 = m, r1 = a, x0 = 0, x1 = 1;
  while (r1 != 0) {
    const int q = r0 / r1, r = r0 - q * r1, x = x0 - q * x1;
    r0 = r1, r1 = r, x0 = x1, x1 = x;
  }
  return x0 < 0 ? x0 + m : x0;
}

/// What digit number D of 48 bits stands for.
template <int D>
KERAMOS_FORCEINLINE_FUNCTION double digit_of(const std::uint64_t (&digits)[3]) {
  return double(digits[D]) * power(48 * D);
}

/// Makes the choice: the fewest moduli that give as many bits as are needed, if at most `most` do. An item for each modulus.
struct choice_kernel {
  const int* need;
  index_t k;
  int most;
  choice* to;

  KERAMOS_FORCEINLINE_FUNCTION void operator()(id<1> at) const {
    const int own = int(index_t(at));
    std::uint64_t product[3] = {1, 0, 0};  // of the moduli so far, in digits of 48 bits
    int count = 0, bits = 0;
    int m = 0;
    for_each_modulus([&](auto number) {
      constexpr int candidate = moduli[number.value];
      if (number.value == own) m = candidate;
    });
    for_each_modulus([&](auto number) {
      if (count > 0 || number.value >= most) return;
      constexpr std::uint64_t next = moduli[number.value];
      std::uint64_t carry = 0;
      for (int d = 0; d < 3; ++d) {
        const std::uint64_t digit = product[d] * next + carry;
        product[d] = digit & ((std::uint64_t(1) << 48) - 1);
        carry = digit >> 48;
      }
      // 2·k·4^bits < P, so that sums keep their sign.
      const double ratio = (digit_of<2>(product) + digit_of<1>(product) + digit_of<0>(product)) / double(k);
      const int most_of_sums = exponent_of(ratio * (1 - 1e-9)) - 1;
      bits = (most_of_sums - 1) / 2 < most_bits ? (most_of_sums - 1) / 2 : most_bits;
      if (most_of_sums > 1 && bits >= *need) count = number.value + 1;
    });
    int others = 1;
    for_each_modulus([&](auto number) {
      constexpr int other = moduli[number.value];
      if (number.value < count && number.value != own) others = others * (other % m) % m;
    });
    if (own == 0) {
      const double high = digit_of<2>(product), middle = digit_of<1>(product);
      to->count = count, to->bits = bits;
      to->product = high + middle;
      to->product_rest = middle - (to->product - high) + digit_of<0>(product);
    }
    constexpr double step = 1.0 / double(std::uint64_t(1) << 40);
    const std::uint64_t scaled = std::uint64_t(inverse(others, m)) << 40;
    const std::uint64_t quotient = scaled / std::uint64_t(m);
    to->high[own] = double(quotient) * step;
    to->low[own] = double(scaled % std::uint64_t(m)) / m * step;
    to->modulus[own] = std::uint32_t(m);
    to->magic[own] = magic_of(m);
  }
};

}  // namespace keramos::detail::residues

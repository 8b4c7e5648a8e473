// Arithmetic of residues: integers of up to 62 bits as remainders of eight bits, products of these remainders on units for
// integers of eight bits, and back (scheme II of K. Ozaki, Y. Uchino, T. Imamura, "Ozaki Scheme II", arXiv 2504.08009).
//
// A row of A times 2^s is rounded to integers of `bits` bits, a column of B as well. Their product is less than half of the
// product P of the moduli, so that the Chinese remainder theorem finds it from its remainders. All of this is exact; what
// is lost is what the integers leave of the elements.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <keramos/base/macros.hpp>

namespace keramos::detail::residues {

/// The moduli: no two have a common factor, and remainders of each fit eight bits.
inline constexpr int moduli[] = {256, 255, 253, 251, 247, 241, 239, 233, 229,
                                 227, 223, 217, 211, 199, 197, 193, 191, 181};
inline constexpr int most_moduli = int(sizeof(moduli) / sizeof(moduli[0]));
/// The most bits of the integers: three limbs of 21.
inline constexpr int most_bits = 62;
/// The most products of remainders whose sums fit 32 bits.
inline constexpr int most_k = (1 << 16) - 1;

/// ceil(2^39 / m): for u < 2^30 floor(u / m) is u·magic / 2^39, and for u < 2^32 that or one more.
KERAMOS_FORCEINLINE_FUNCTION constexpr std::uint32_t magic_of(int m) {
  return std::uint32_t(((std::uint64_t(1) << 39) + std::uint64_t(m) - 1) / std::uint64_t(m));
}
/// 2^e mod m.
KERAMOS_FORCEINLINE_FUNCTION constexpr int power_of_two(int e, int m) {
  int power = 1;
  for (; e > 0; --e) power = 2 * power % m;
  return power;
}
/// The least multiple of m that is not less than x.
KERAMOS_FORCEINLINE_FUNCTION constexpr std::int64_t multiple_from(std::int64_t x, int m) {
  return (x + m - 1) / m * m;
}

KERAMOS_FORCEINLINE_FUNCTION constexpr std::uint32_t quotient(std::uint32_t u, std::uint32_t magic) {
  return std::uint32_t(std::uint64_t(u) * magic >> 39);
}

/// `f(number)` for all moduli; number.value is a constant.
template <class F>
KERAMOS_FORCEINLINE_FUNCTION void for_each_modulus(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) { (f(std::integral_constant<int, I>{}), ...); }
  (std::make_integer_sequence<int, most_moduli>());
}

/// An integer of `most_bits` bits and a sign, in three digits of 21 bits.
struct limbs {
  std::int32_t low, middle, high;

  KERAMOS_FORCEINLINE_FUNCTION static limbs of(std::int64_t x) {
    constexpr std::int64_t mask = (1 << 21) - 1;
    return {std::int32_t(x & mask), std::int32_t(x >> 21 & mask), std::int32_t(x >> 42)};
  }
};

/// The remainder of modulus number I of x + a multiple of the modulus that makes it positive, both below 2^29.
template <int I>
KERAMOS_FORCEINLINE_FUNCTION std::uint32_t remainder(std::int32_t x) {
  constexpr int m = moduli[I];
  constexpr auto offset = std::int32_t(multiple_from(std::int64_t(1) << 29, m));
  const auto u = std::uint32_t(x + offset);
  return u - quotient(u, magic_of(m)) * std::uint32_t(m);
}
template <int I>
KERAMOS_FORCEINLINE_FUNCTION std::uint32_t remainder(const limbs& x) {
  constexpr int m = moduli[I], half = m / 2;
  constexpr std::int32_t middle = power_of_two(21, m), high = power_of_two(42, m);
  // Less than 2^29 in all: of both powers of two the remainder is taken that is the closer one to zero.
  return remainder<I>(x.high * (high > half ? high - m : high) +
                      x.middle * (middle > half ? middle - m : middle) + x.low);
}

/// How a product is formed, as the device finds it; see accuracy.hpp.
struct choice {
  int count;  ///< of moduli; 0 if the product must be formed by other means
  int bits;   ///< of an integer, |x| <= 2^bits
  /// The product of the moduli, as the sum of two numbers.
  double product, product_rest;
  /// The integer c with remainders r is P·(Σ r·(high + low) - the nearest integer). `high` are multiples of 2^-40, so that
  /// the sum with them is exact.
  double high[most_moduli], low[most_moduli];
  std::uint32_t modulus[most_moduli], magic[most_moduli];  ///< of sums of products
};

/// The remainder of a sum of at most most_k products of remainders.
KERAMOS_FORCEINLINE_FUNCTION std::uint32_t remainder_of_sum(std::uint32_t sum, std::uint32_t modulus,
                                                            std::uint32_t magic) {
  const auto r = std::int32_t(sum - quotient(sum, magic) * modulus);
  return std::uint32_t(r < 0 ? r + std::int32_t(modulus) : r);
}

}  // namespace keramos::detail::residues

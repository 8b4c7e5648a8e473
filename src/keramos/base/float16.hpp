// float16 and bfloat16: sixteen-bit floating-point numbers as they lie in memory. `float16 x(0.5f); float y = x;`. No Kokkos
// here: the kernels that are compiled per instruction set include it.
#pragma once

#include <cstdint>
#include <limits>

#include <keramos/base/compiler.hpp>

namespace keramos {

namespace detail {

/// IEEE 754's binary16 as a float: exact. No subnormal float occurs on the way, which programs may treat as zeros.
KERAMOS_ANYWHERE float float_of_half(std::uint16_t half) {
#ifdef KERAMOS_HALF_INSTRUCTIONS
  return widen_half(half);
#else
  const std::uint32_t exponent = half & 0x7c00u, moved = std::uint32_t(half & 0x7fff) << 13;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, float(half & 0x3ff) * 0x1p-24f);
  // By masks, not branches, around which compilers make no vectors. Of infinity and NaN the exponent becomes 255.
  const std::uint32_t is_subnormal = -std::uint32_t(exponent == 0),
                      is_special = -std::uint32_t(exponent == 0x7c00u);
  const std::uint32_t normal = moved + (112u << 23) + (is_special & 112u << 23);
  const std::uint32_t magnitude = (subnormal & is_subnormal) | (normal & ~is_subnormal);
  return __builtin_bit_cast(float, magnitude | std::uint32_t(half & 0x8000) << 16);
#endif
}

/// The nearest binary16, of two the even one; infinity from 65520 on.
KERAMOS_ANYWHERE std::uint16_t half_of_float(float x) {
#ifdef KERAMOS_HALF_INSTRUCTIONS
  return narrow_to_half(x);
#else
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x), magnitude = bits & 0x7fffffffu;
  std::uint32_t half;
  if (magnitude >= 0x47800000u)  // 2^16 and more
    half = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
  else if (magnitude < 0x38800000u)  // subnormal: the sum with 0.5 rounds to multiples of 2^-24
    half = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3f000000u;
  else
    half = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
  return std::uint16_t(half | (bits >> 16 & 0x8000u));
#endif
}

/// The nearest bfloat16, of two the even one.
KERAMOS_ANYWHERE std::uint16_t bfloat_of_float(float x) {
#ifdef KERAMOS_BFLOAT_INSTRUCTIONS
  return narrow_to_bfloat(x);
#else
  const std::uint32_t wide = __builtin_bit_cast(std::uint32_t, x);
  const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
  return std::uint16_t(is_nan ? wide >> 16 | 0x40u : (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
#endif
}

}  // namespace detail

/// IEEE 754's binary16, an element type: 5 bits of exponent, 11 of mantissa, up to 65504. It converts to and from float
/// (to the nearest, of two the even one; a double by way of float) and has no arithmetic of its own.
struct float16 {
  std::uint16_t bits;

  float16() = default;
  static constexpr float16 from_bits(std::uint16_t b) {
    float16 x{};
    x.bits = b;
    return x;
  }
  KERAMOS_ANYWHERE explicit float16(float x) : bits(detail::half_of_float(x)) {}
  KERAMOS_ANYWHERE explicit float16(double x) : float16(float(x)) {}
  KERAMOS_ANYWHERE explicit float16(int x) : float16(float(x)) {}
  KERAMOS_ANYWHERE operator float() const { return detail::float_of_half(bits); }
};

/// The upper half of a float, an element type: 8 bits of exponent, 8 of mantissa. It converts to and from float (to the
/// nearest, of two the even one; a double by way of float) and has no arithmetic of its own.
struct bfloat16 {
  std::uint16_t bits;

  bfloat16() = default;
  static constexpr bfloat16 from_bits(std::uint16_t b) {
    bfloat16 x{};
    x.bits = b;
    return x;
  }
  KERAMOS_ANYWHERE explicit bfloat16(float x) : bits(detail::bfloat_of_float(x)) {}
  KERAMOS_ANYWHERE explicit bfloat16(double x) : bfloat16(float(x)) {}
  KERAMOS_ANYWHERE explicit bfloat16(int x) : bfloat16(float(x)) {}
  KERAMOS_ANYWHERE operator float() const { return __builtin_bit_cast(float, std::uint32_t(bits) << 16); }
};

}  // namespace keramos

namespace std {

template <>
struct numeric_limits<keramos::float16> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
  static constexpr int radix = 2, digits = 11, max_exponent = 16, min_exponent = -13;
  static constexpr keramos::float16 min() { return keramos::float16::from_bits(0x0400); }
  static constexpr keramos::float16 max() { return keramos::float16::from_bits(0x7bff); }
  static constexpr keramos::float16 lowest() { return keramos::float16::from_bits(0x8000 | 0x7bff); }
  static constexpr keramos::float16 epsilon() { return keramos::float16::from_bits(0x1400); }
  static constexpr keramos::float16 infinity() { return keramos::float16::from_bits(0x7c00); }
  static constexpr keramos::float16 quiet_NaN() { return keramos::float16::from_bits(0x7e00); }
  static constexpr keramos::float16 denorm_min() { return keramos::float16::from_bits(1); }
};

template <>
struct numeric_limits<keramos::bfloat16> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
  static constexpr int radix = 2, digits = 8, max_exponent = 128, min_exponent = -125;
  static constexpr keramos::bfloat16 min() { return keramos::bfloat16::from_bits(0x0080); }
  static constexpr keramos::bfloat16 max() { return keramos::bfloat16::from_bits(0x7f7f); }
  static constexpr keramos::bfloat16 lowest() { return keramos::bfloat16::from_bits(0x8000 | 0x7f7f); }
  static constexpr keramos::bfloat16 epsilon() { return keramos::bfloat16::from_bits(0x3c00); }
  static constexpr keramos::bfloat16 infinity() { return keramos::bfloat16::from_bits(0x7f80); }
  static constexpr keramos::bfloat16 quiet_NaN() { return keramos::bfloat16::from_bits(0x7fc0); }
  static constexpr keramos::bfloat16 denorm_min() { return keramos::bfloat16::from_bits(1); }
};

}  // namespace std

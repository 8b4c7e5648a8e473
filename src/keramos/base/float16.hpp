// Sixteen-bit floating-point numbers as they lie in memory. No Kokkos here: the kernels that are compiled per instruction
// set include it.
#pragma once

#include <cstdint>

#include <keramos/base/compiler.hpp>

namespace keramos {

namespace detail {

/// IEEE 754's binary16 as a float: exact. Multiplied by 2^112 the exponent has float's bias, which is right for
/// subnormal numbers too (F. Giesen's "half_to_float_fast5", public domain, is the scheme).
KERAMOS_ANYWHERE float float_of_half(std::uint16_t half) {
#ifdef KERAMOS_HALF_INSTRUCTIONS
  return widen_half(half);
#else
  const std::uint32_t magnitude = std::uint32_t(half & 0x7fff) << 13;
  std::uint32_t bits = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, magnitude) * 0x1p112f);
  if ((half & 0x7c00) == 0x7c00) bits = magnitude | 0x7f800000u;  // infinity, NaN
  return __builtin_bit_cast(float, bits | std::uint32_t(half & 0x8000) << 16);
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

}  // namespace detail

/// IEEE 754's binary16, an element type: 5 bits of exponent, 11 of mantissa, up to 65504. It converts to and from float
/// (to the nearest, of two the even one; a double by way of float) and has no arithmetic of its own.
struct float16 {
  std::uint16_t bits;

  float16() = default;
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
  KERAMOS_ANYWHERE explicit bfloat16(float x) {
    const std::uint32_t wide = __builtin_bit_cast(std::uint32_t, x);
    const bool is_nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = std::uint16_t(is_nan ? wide >> 16 | 0x40u : (wide + 0x7fffu + (wide >> 16 & 1u)) >> 16);
  }
  KERAMOS_ANYWHERE explicit bfloat16(double x) : bfloat16(float(x)) {}
  KERAMOS_ANYWHERE explicit bfloat16(int x) : bfloat16(float(x)) {}
  KERAMOS_ANYWHERE operator float() const { return __builtin_bit_cast(float, std::uint32_t(bits) << 16); }
};

}  // namespace keramos

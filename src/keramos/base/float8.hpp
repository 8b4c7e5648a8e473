// float8_e4m3 and float8_e5m2: eight-bit floating-point numbers as they lie in memory (OCP, "8-bit Floating Point
// Specification (OFP8)"). `float8_e4m3 x(0.5f); float y = x;`. No Kokkos here: the kernels that are compiled per instruction
// set include it.
#pragma once

#include <cstdint>
#include <limits>

#include <keramos/base/compiler.hpp>
#include <keramos/base/float16.hpp>

namespace keramos {

namespace detail {

/// E5M2 is the upper half of a binary16, with infinities. E4M3 has four bits of exponent, no infinities, and one NaN of each
/// sign, 0x7f and 0xff. Exact.
KERAMOS_ANYWHERE float float_of_eight(std::uint8_t x, bool is_e5m2) {
  if (is_e5m2) return float_of_half(std::uint16_t(x << 8));
  const std::uint32_t magnitude = x & 0x7fu;
  // As a binary16 the exponent is eight less.
  const float number = float_of_half(std::uint16_t((x & 0x80u) << 8 | magnitude << 7)) * 256.0f;
  return magnitude == 0x7fu ? __builtin_bit_cast(float, 0x7fc00000u) : number;
}

/// The nearest number, of two the even one. What is larger than the largest number, infinity too, becomes that, as in NVIDIA's
/// and most others' conversions; NaN stays NaN.
template <bool IsE5M2>
KERAMOS_ANYWHERE std::uint8_t eight_of_float(float x) {
  constexpr int mantissa = IsE5M2 ? 2 : 3;
  constexpr float largest = IsE5M2 ? 57344.0f : 448.0f, least_normal = IsE5M2 ? 0x1p-14f : 0x1p-6f;
  constexpr std::uint32_t largest_bits = IsE5M2 ? 0x7b : 0x7e, bias = IsE5M2 ? 15 : 7;
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x), sign = bits >> 24 & 0x80u;
  const float magnitude = __builtin_bit_cast(float, bits & 0x7fffffffu);
  std::uint32_t out;
  if (!(magnitude == magnitude)) {
    out = 0x7f;
  } else if (magnitude >= largest) {
    out = largest_bits;
  } else if (magnitude < least_normal) {
    // The sum rounds to multiples of the least number.
    constexpr float shift = least_normal * float(1 << (23 - mantissa));
    out = __builtin_bit_cast(std::uint32_t, magnitude + shift) - __builtin_bit_cast(std::uint32_t, shift);
  } else {
    constexpr int drop = 23 - mantissa;
    const std::uint32_t wide = bits & 0x7fffffffu;
    const std::uint32_t rounded = (wide + (1u << (drop - 1)) - 1 + (wide >> drop & 1u)) >> drop;
    out = rounded - ((127 - bias) << mantissa);
    if (out > largest_bits) out = largest_bits;
  }
  return std::uint8_t(sign | out);
}

}  // namespace detail

/// An element type with four bits of exponent and four of mantissa, one of them implied: up to 448, without infinity. It
/// converts to and from float (to the nearest, of two the even one, at most 448) and has no arithmetic of its own.
struct float8_e4m3 {
  std::uint8_t bits;

  float8_e4m3() = default;
  static constexpr float8_e4m3 from_bits(std::uint8_t b) {
    float8_e4m3 x{};
    x.bits = b;
    return x;
  }
  KERAMOS_ANYWHERE explicit float8_e4m3(float x) : bits(detail::eight_of_float<false>(x)) {}
  KERAMOS_ANYWHERE explicit float8_e4m3(double x) : float8_e4m3(float(x)) {}
  KERAMOS_ANYWHERE explicit float8_e4m3(int x) : float8_e4m3(float(x)) {}
  KERAMOS_ANYWHERE operator float() const { return detail::float_of_eight(bits, false); }
};

/// The same with five bits of exponent and three of mantissa: up to 57344, with infinity, which conversions do not make.
struct float8_e5m2 {
  std::uint8_t bits;

  float8_e5m2() = default;
  static constexpr float8_e5m2 from_bits(std::uint8_t b) {
    float8_e5m2 x{};
    x.bits = b;
    return x;
  }
  KERAMOS_ANYWHERE explicit float8_e5m2(float x) : bits(detail::eight_of_float<true>(x)) {}
  KERAMOS_ANYWHERE explicit float8_e5m2(double x) : float8_e5m2(float(x)) {}
  KERAMOS_ANYWHERE explicit float8_e5m2(int x) : float8_e5m2(float(x)) {}
  KERAMOS_ANYWHERE operator float() const { return detail::float_of_eight(bits, true); }
};

/// Either to kernels: which of them is known to the operand that it belongs to (tiling::reading), so that one kernel serves
/// both.
struct float8 {
  std::uint8_t bits;

  float8() = default;
  /// Zero is the only number of which both are the same.
  KERAMOS_ANYWHERE explicit float8(int /*zero*/) : bits(0) {}
};

}  // namespace keramos

namespace std {

template <>
struct numeric_limits<keramos::float8_e4m3> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = false, has_quiet_NaN = true, is_iec559 = false, is_bounded = true;
  static constexpr int radix = 2, digits = 4, max_exponent = 9, min_exponent = -5;
  static constexpr keramos::float8_e4m3 min() { return keramos::float8_e4m3::from_bits(0x08); }
  static constexpr keramos::float8_e4m3 max() { return keramos::float8_e4m3::from_bits(0x7e); }
  static constexpr keramos::float8_e4m3 lowest() { return keramos::float8_e4m3::from_bits(0xfe); }
  static constexpr keramos::float8_e4m3 epsilon() { return keramos::float8_e4m3::from_bits(0x20); }
  static constexpr keramos::float8_e4m3 quiet_NaN() { return keramos::float8_e4m3::from_bits(0x7f); }
  static constexpr keramos::float8_e4m3 denorm_min() { return keramos::float8_e4m3::from_bits(1); }
};

template <>
struct numeric_limits<keramos::float8_e5m2> {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false, is_exact = false;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, is_iec559 = true, is_bounded = true;
  static constexpr int radix = 2, digits = 3, max_exponent = 16, min_exponent = -13;
  static constexpr keramos::float8_e5m2 min() { return keramos::float8_e5m2::from_bits(0x04); }
  static constexpr keramos::float8_e5m2 max() { return keramos::float8_e5m2::from_bits(0x7b); }
  static constexpr keramos::float8_e5m2 lowest() { return keramos::float8_e5m2::from_bits(0xfb); }
  static constexpr keramos::float8_e5m2 epsilon() { return keramos::float8_e5m2::from_bits(0x34); }
  static constexpr keramos::float8_e5m2 infinity() { return keramos::float8_e5m2::from_bits(0x7c); }
  static constexpr keramos::float8_e5m2 quiet_NaN() { return keramos::float8_e5m2::from_bits(0x7e); }
  static constexpr keramos::float8_e5m2 denorm_min() { return keramos::float8_e5m2::from_bits(1); }
};

}  // namespace std

// Eight-bit integers as they lie in memory. No Kokkos here: the kernels that are compiled per instruction set include it.
#pragma once

#include <cstdint>

#include <keramos/base/compiler.hpp>

namespace keramos {

/// A std::int8_t or a std::uint8_t to kernels: which of them is known to the operand that it belongs to
/// (tiling::reading), so that one kernel serves both.
struct integer8 {
  std::uint8_t bits;

  integer8() = default;
  /// The low byte.
  KERAMOS_ANYWHERE explicit integer8(std::uint32_t x) : bits(std::uint8_t(x)) {}
  KERAMOS_ANYWHERE explicit operator std::uint32_t() const { return bits; }
};

namespace detail {

/// The number, modulo 2^32.
KERAMOS_ANYWHERE std::uint32_t widen(integer8 x, bool is_signed) {
  const std::uint32_t sign = is_signed ? 0x80u : 0u;
  return (x.bits ^ sign) - sign;
}

}  // namespace detail

}  // namespace keramos

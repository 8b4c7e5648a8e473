// Division by a number that is known beforehand.
#pragma once

#include <cstdint>

#include <keramos/base/macros.hpp>

namespace keramos::detail {

/// Divides by a multiplication and a shift (Granlund, Montgomery, "Division by Invariant Integers using Multiplication", PLDI
/// 1994): GPUs have no instruction that divides integers, and take some 30 for it.
struct divisor {
  std::uint32_t multiplier = 0;
  int shift = 31;

  /// By a number up to 2^31 - 1; less than 1 counts as 1. This divides, and so is for the host.
  KERAMOS_INLINE_FUNCTION constexpr explicit divisor(int by = 1) {
    const std::uint64_t d = by < 1 ? 1 : std::uint64_t(by);
    while ((std::uint64_t(1) << (shift - 31)) < d) ++shift;
    // Rounded up, by less than 1, to less than 2^32; 2^(shift - 31) is at least d. So products of n and what was added are
    // less than 2^shift / d, which changes no quotient.
    multiplier = std::uint32_t(((std::uint64_t(1) << shift) + d - 1) / d);
  }
  /// One that was made.
  KERAMOS_FORCEINLINE_FUNCTION constexpr divisor(std::uint32_t its_multiplier, int its_shift)
      : multiplier(its_multiplier), shift(its_shift) {}

  /// The quotient of n from 0 to 2^31 - 1, rounded down.
  KERAMOS_FORCEINLINE_FUNCTION constexpr int quotient(int n) const {
    return int(std::uint64_t(std::uint32_t(n)) * multiplier >> shift);
  }
};

}  // namespace keramos::detail

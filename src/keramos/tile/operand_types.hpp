// What a tile multiplies and sums.
#pragma once

#include <keramos/base/scalar_type.hpp>

namespace keramos::tiling {

/// Types of elements of A and of B, of what they are rounded to before they are multiplied, and of sums.
struct operand_types {
  scalar_type a, b, compute, accumulator;
  friend constexpr bool operator==(const operand_types&, const operand_types&) = default;
};

/// All of one type: for rows of tables.
constexpr operand_types all(scalar_type type) { return {type, type, type, type}; }

}  // namespace keramos::tiling

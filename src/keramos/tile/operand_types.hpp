// What a tile multiplies and sums.
#pragma once

#include <keramos/base/scalar_type.hpp>

namespace keramos::tiling {

/// Types of elements of A and of B, of what they are rounded to before they are multiplied, and of sums.
struct operand_types {
  scalar_type a, b, compute, accumulator;
  friend constexpr bool operator==(const operand_types&, const operand_types&) = default;
};

/// All of one type.
constexpr operand_types all(scalar_type type) { return {type, type, type, type}; }
/// Short floating-point elements, summed in f32.
constexpr operand_types halves(scalar_type type) { return {type, type, type, scalar_type::f32}; }
/// Elements of A that are converted to the type of all else.
constexpr operand_types mixed(scalar_type a, scalar_type type) { return {a, type, type, type}; }
/// Elements of f32 that are rounded to tf32.
constexpr operand_types rounded_to_tf32() {
  return {scalar_type::f32, scalar_type::f32, scalar_type::tf32, scalar_type::f32};
}
/// Elements of f32 that are split in two of tf32.
constexpr operand_types split_in_tf32() {
  return {scalar_type::f32, scalar_type::f32, scalar_type::tf32x3, scalar_type::f32};
}
/// Integers of eight bits, summed modulo 2^32.
constexpr operand_types bytes() {
  return {scalar_type::i8, scalar_type::i8, scalar_type::i8, scalar_type::i32};
}

}  // namespace keramos::tiling

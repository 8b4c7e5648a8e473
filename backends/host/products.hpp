// The multiply atoms of hosts: what a lane of a vector adds to its sum for a packed number of A and one of B.
//
// Compiled per instruction set, like micro_kernel.hpp, which see.
#pragma once

#include <keramos/backends/host/vector.hpp>
#include <keramos/base/scalar_type.hpp>
#include <keramos/tile/operand_types.hpp>

namespace keramos::backend::host::KERAMOS_HOST_ISA {

/// One product: a packed number is one element, converted to the type of sums.
template <class T>
struct multiply_add {
  using vector = typename simd<T>::vector;
  static constexpr int group = 1;  ///< elements along k that a packed number holds
  static vector add(vector sum, T a, vector b) { return sum + a * b; }
};

#if defined(__AVX512BF16__)
/// Two products of bfloat16s, neighbours along k, in one instruction: twice as many as of floats. It takes subnormal numbers
/// for zeros, and sums that are subnormal become zeros; rounding is to nearest.
struct bf16_pairs {
  using vector = simd<float>::vector;
  static constexpr int group = 2;
  static vector add(vector sum, float a, vector b) {
    return vector(_mm512_dpbf16_ps(__m512(sum), __m512bh(_mm512_set1_ps(a)), __m512bh(b)));
  }
};
#endif

/// The atom for elements of such types, with sums of type T.
template <tiling::operand_types Operands, class T>
struct product_of {
  using type = multiply_add<T>;
};
#if defined(__AVX512BF16__)
template <>
struct product_of<tiling::halves(scalar_type::bf16), float> {
  using type = bf16_pairs;
};
#endif

}  // namespace keramos::backend::host::KERAMOS_HOST_ISA

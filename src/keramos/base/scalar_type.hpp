// The types of elements and of sums: as values, by which tables find what serves a product, and as C++ types. No
// Kokkos here: the kernels that are compiled per instruction set include it.
#pragma once

#include <cstdint>
#include <type_traits>

#include <keramos/base/compiler.hpp>
#include <keramos/base/complex.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>
#include <keramos/base/integer8.hpp>

namespace keramos {

/// Floats of eight bits, e4m3 or e5m2, IEEE 754's binary16, binary32 and binary64, the upper half of a binary32, integers of
/// eight bits with a sign or without, integers modulo 2^32, and complex numbers of two binary32 and of two binary64.
///
/// No types of elements are: tf32, what a binary32 can be rounded to before it is multiplied, eight bits of exponent and
/// eleven of mantissa; tf32x3, a binary32 as the sum of two of these, so that a product is three of theirs; residues, an
/// integer by its remainders.
enum class scalar_type : unsigned char { f8, f16, bf16, tf32, tf32x3, residues, f32, f64, i8, i32, c32, c64 };

constexpr int bytes_of(scalar_type type) {
  switch (type) {
    case scalar_type::f8:
    case scalar_type::i8:
      return 1;
    case scalar_type::f16:
    case scalar_type::bf16:
      return 2;
    case scalar_type::f64:
    case scalar_type::c32:
      return 8;
    case scalar_type::c64:
      return 16;
    default:
      return 4;
  }
}

namespace detail {

/// What callers call it: `scalar_type_of<T>::value`. Other types have none.
template <class T>
struct scalar_type_of {};
template <>
struct scalar_type_of<float8_e4m3> : std::integral_constant<scalar_type, scalar_type::f8> {};
template <>
struct scalar_type_of<float8_e5m2> : std::integral_constant<scalar_type, scalar_type::f8> {};
template <>
struct scalar_type_of<float16> : std::integral_constant<scalar_type, scalar_type::f16> {};
template <>
struct scalar_type_of<bfloat16> : std::integral_constant<scalar_type, scalar_type::bf16> {};
// Others' names for the same bits. (Kokkos' are in base/kokkos.hpp.)
template <>
struct scalar_type_of<__nv_fp8_e4m3> : scalar_type_of<float8_e4m3> {};
template <>
struct scalar_type_of<__nv_fp8_e5m2> : scalar_type_of<float8_e5m2> {};
template <>
struct scalar_type_of<__half> : scalar_type_of<float16> {};
template <>
struct scalar_type_of<__nv_bfloat16> : scalar_type_of<bfloat16> {};
template <>
struct scalar_type_of<__hip_bfloat16> : scalar_type_of<bfloat16> {};
#ifdef KERAMOS_COMPILER_HAS_FLOAT16
template <>
struct scalar_type_of<_Float16> : scalar_type_of<float16> {};
#endif
#ifdef KERAMOS_COMPILER_HAS_BFLOAT16
template <>
struct scalar_type_of<__bf16> : scalar_type_of<bfloat16> {};
#endif
template <>
struct scalar_type_of<float> : std::integral_constant<scalar_type, scalar_type::f32> {};
template <>
struct scalar_type_of<double> : std::integral_constant<scalar_type, scalar_type::f64> {};
template <>
struct scalar_type_of<std::int8_t> : std::integral_constant<scalar_type, scalar_type::i8> {};
template <>
struct scalar_type_of<std::uint8_t> : std::integral_constant<scalar_type, scalar_type::i8> {};
template <>
struct scalar_type_of<std::int32_t> : std::integral_constant<scalar_type, scalar_type::i32> {};
template <complex_like Z>
struct scalar_type_of<Z>
    : std::integral_constant<scalar_type, sizeof(Z) == 8 ? scalar_type::c32 : scalar_type::c64> {};

/// Whether a caller's float of eight bits has five bits of exponent.
template <class T>
inline constexpr bool is_e5m2 = std::is_same_v<T, float8_e5m2> || std::is_same_v<T, __nv_fp8_e5m2>;

/// As what kernels read it. Integers are unsigned there: what overflows wraps modulo 2^32, and is defined.
template <scalar_type>
struct kernel_type_of;
template <>
struct kernel_type_of<scalar_type::f8> : std::type_identity<float8> {};
template <>
struct kernel_type_of<scalar_type::f16> : std::type_identity<float16> {};
template <>
struct kernel_type_of<scalar_type::bf16> : std::type_identity<bfloat16> {};
template <>
struct kernel_type_of<scalar_type::f32> : std::type_identity<float> {};
template <>
struct kernel_type_of<scalar_type::f64> : std::type_identity<double> {};
template <>
struct kernel_type_of<scalar_type::i8> : std::type_identity<integer8> {};
template <>
struct kernel_type_of<scalar_type::i32> : std::type_identity<std::uint32_t> {};
template <>
struct kernel_type_of<scalar_type::c32> : std::type_identity<complex<float>> {};
template <>
struct kernel_type_of<scalar_type::c64> : std::type_identity<complex<double>> {};
/// The same of the callers' type T.
template <class T>
using kernel_element = typename kernel_type_of<scalar_type_of<T>::value>::type;

}  // namespace detail

}  // namespace keramos

// What types a product is summed in, what the reference is computed in, and by how much a right result may be off.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <keramos/base/complex.hpp>
#include <keramos/base/float16.hpp>
#include <keramos/base/float8.hpp>

namespace keramos::perf {

// In what products of T, or the parts of complex ones, are summed, and alpha and beta are given. Conversions to it are
// exact.
template <class T>
struct sum_of : std::type_identity<T> {};
template <>
struct sum_of<float16> : std::type_identity<float> {};
template <>
struct sum_of<bfloat16> : std::type_identity<float> {};
template <>
struct sum_of<float8_e4m3> : std::type_identity<float> {};
template <>
struct sum_of<std::int8_t> : std::type_identity<std::int32_t> {};
template <class R>
struct sum_of<complex<R>> : std::type_identity<R> {};
template <class T>
using sum_t = typename sum_of<T>::type;

// In what the reference of such sums is computed.
template <class S>
struct wider;
template <>
struct wider<float> : std::type_identity<double> {};
template <>
struct wider<double> : std::type_identity<long double> {};
template <>
struct wider<std::int32_t> : std::type_identity<std::uint32_t> {};  // products wrap modulo 2^32
template <class S>
using wider_t = typename wider<S>::type;

constexpr double power_of_2(int exponent) {
  double value = 1;
  for (; exponent < 0; ++exponent) value /= 2;
  return value;
}

// Unit roundoff: the relative error of one rounding to nearest; 0 of integers.
template <class T>
constexpr double unit_roundoff = std::numeric_limits<T>::is_integer
                                     ? 0
                                     : power_of_2(-std::numeric_limits<T>::digits);
// Half the distance of the smallest numbers, which is the error where the relative one is less.
template <class T>
constexpr double smallest_error = power_of_2(std::numeric_limits<T>::min_exponent -
                                             std::numeric_limits<T>::digits - 1);

// The relative error of a product of floats that were rounded to eleven bits each, to nearest, and the sums' of more than
// that: (1 + 2^-11)^2 - 1, rounded up.
constexpr double tf32_product_roundoff = power_of_2(-10) + power_of_2(-21);
// That of a product of floats of eight bits in the sums of tensor cores, which keep fewer bits than f32.
constexpr double f8_product_roundoff = power_of_2(-11);

// That of f32 as products of tf32: of what is left out, and of sums of tensor cores (keramos/gemm/gemm.hpp).
constexpr double f32_emulated_roundoff = power_of_2(-18);

// What rounding x, a sum of type S, to C's type adds at most.
template <class S, class C>
double rounding_to_c(double size_of_x) {
  if constexpr (std::is_same_v<S, C>)
    return 0;
  else
    return unit_roundoff<C> * size_of_x + smallest_error<C>;
}

}  // namespace keramos::perf

// Through a narrower type and back: `epilogue::saturate<std::int8_t>()`, `epilogue::round_to<float16>()`. The value stays of the
// type of sums, so that conversions compose with what follows.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include <keramos/base/kokkos.hpp>
#include <keramos/base/macros.hpp>
#include <keramos/gemm/epilogue/data.hpp>

namespace keramos::epilogue {

namespace parts {

/// The largest T that is not above To's largest value, and the smallest that is not below its lowest: a T may have
/// fewer digits than an integer, so that converting To's largest would round it up.
template <class To, class T>
constexpr T largest() {
  using from = std::numeric_limits<T>;
  using to = std::numeric_limits<To>;
  if constexpr (to::is_integer && !from::is_integer) {
    T power = 1;  // 2^digits - 2^(digits - from::digits), from the powers of two that T has
    for (int bit = 0; bit < to::digits; ++bit) power *= T(2);
    if constexpr (to::digits <= from::digits) return power - T(1);
    T gap = power;
    for (int bit = 0; bit < from::digits; ++bit) gap /= T(2);
    return power - gap;
  } else if constexpr (to::is_integer) {
    return to::digits < from::digits ? static_cast<T>(to::max()) : from::max();
  } else if constexpr (!std::is_arithmetic_v<To>) {  // whose conversions are no constants
    if constexpr (to::max_exponent > from::max_exponent || to::digits > from::digits) return from::max();
    T last = 1;  // bit of the mantissa
    for (int bit = 1; bit < to::digits; ++bit) last /= T(2);
    if constexpr (!to::has_infinity && to::has_quiet_NaN) last *= T(2);  // that of all ones is NaN
    T value = T(2) - last;
    for (int exponent = 1; exponent < to::max_exponent; ++exponent) value *= T(2);
    return value;
  } else {
    return to::max_exponent < from::max_exponent ||
                   (to::max_exponent == from::max_exponent && to::digits < from::digits)
               ? static_cast<T>(to::max())
               : from::max();
  }
}
template <class To, class T>
constexpr T lowest() {
  using from = std::numeric_limits<T>;
  using to = std::numeric_limits<To>;
  if constexpr (!to::is_integer)
    return -largest<To, T>();
  else if constexpr (!to::is_signed)
    return T(0);
  else if constexpr (!from::is_integer)
    return static_cast<T>(to::lowest());  // a power of two
  else
    return !from::is_signed            ? T(0)
           : to::digits < from::digits ? static_cast<T>(to::lowest())
                                       : from::lowest();
}

/// The number of [low, high] that is nearest to x; 0 for NaN.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr T clamped(T x, T low, T high) {
  const T number = x == x ? x : T(0);
  return number < low ? low : high < number ? high : number;
}

/// As constants, because device code calls no host functions.
template <class To, class T>
inline constexpr T largest_of = largest<To, T>();
template <class To, class T>
inline constexpr T lowest_of = lowest<To, T>();

}  // namespace parts

/// See saturate().
template <class To>
struct saturate_block {
  using epilogue_block = saturate_block;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    static_assert(std::numeric_limits<To>::is_specialized && std::numeric_limits<T>::is_specialized,
                  "keramos: saturate needs std::numeric_limits of both types");
    static_assert(!std::numeric_limits<T>::is_integer || std::numeric_limits<To>::is_integer,
                  "keramos: saturate from an integer C goes to an integer type");
    constexpr T low = parts::lowest_of<To, T>, high = parts::largest_of<To, T>;
    const T within = parts::clamped(acc, low, high);
    if constexpr (std::numeric_limits<T>::is_integer)
      return within;
    else if constexpr (std::numeric_limits<To>::is_integer)
      return static_cast<T>(std::rint(within));
    else
      return static_cast<T>(static_cast<To>(within));
  }
};

/// See round_to().
template <class To>
struct round_to_block {
  using epilogue_block = round_to_block;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    static_assert(!std::is_integral_v<T> && !std::is_integral_v<To>,
                  "keramos: round_to is for floating-point types; saturate<To>() goes to integers");
    return static_cast<T>(static_cast<To>(acc));
  }
};

/// The nearest value that a `To` can hold, as a value of the type of sums, which then converts to `To` exactly.
///
/// Out of range, infinity included, is the end of To's range; NaN is 0. To integers it rounds to nearest, ties to even
/// (in the host thread's rounding mode, if the program has changed it). Between integers it clamps. Where that type
/// cannot hold To's largest value (float and 2^31 - 1), the result is the largest that it can.
template <class To>
constexpr auto saturate() {
  return saturate_block<To>{};
}

/// To the floating-point type `To` and back, as if C had that type: rounded to nearest even; where `To` has no larger number,
/// infinity, or of floats of eight bits the largest one; NaN stays NaN.
template <class To>
constexpr auto round_to() {
  return round_to_block<To>{};
}

}  // namespace keramos::epilogue

// Operators of reductions and scans, by SYCL 2020's names (section 4.17.2, "Function objects"): plus, multiplies, minimum,
// maximum, bit_and, bit_or, bit_xor, logical_and, logical_or. `keramos::reduce(q, x, result, keramos::maximum{})`. Any other
// callable `T(T, T)` that is associative and commutative will do as well.
#pragma once

#include <concepts>
#include <limits>
#include <type_traits>

#include <keramos/base/macros.hpp>

namespace keramos {

namespace detail {

/// Whether 0 and 1 are numbers of T, so that T(0) and T(1) are what sums and products leave unchanged. Of other classes with
/// such operators it is not known: T(1) may be anything.
template <class T>
concept has_zero_and_one = std::numeric_limits<T>::is_specialized || std::is_convertible_v<int, T>;

/// Of any type that compares: Kokkos' halves have no std::numeric_limits.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr bool is_nan([[maybe_unused]] const T& x) {
  if constexpr (!std::is_integral_v<T> && requires { bool(x != x); })
    return bool(x != x);
  else
    return false;
}

/// As constants, because device code calls no host functions.
template <class T>
struct extremes {
  using limits = std::numeric_limits<T>;
  static constexpr T largest = limits::has_infinity ? limits::infinity() : limits::max();
  static constexpr T smallest = limits::has_infinity ? T(-limits::infinity()) : limits::lowest();
};
}  // namespace detail

struct plus {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a + b);
  }
  template <detail::has_zero_and_one T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return T(0);
  }
};

struct multiplies {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a * b);
  }
  template <detail::has_zero_and_one T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return T(1);
  }
};

/// The smaller one. NaN loses against every number, as with std::fmin: else the answer would hang on which two are compared.
struct minimum {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return b < a || detail::is_nan(a) ? b : a;
  }
  template <class T>
  requires(std::numeric_limits<T>::is_specialized) KERAMOS_FORCEINLINE_FUNCTION static constexpr T
      identity() {
    return detail::extremes<T>::largest;
  }
};

/// The larger one. NaN loses against every number, as with std::fmax.
struct maximum {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return a < b || detail::is_nan(a) ? b : a;
  }
  template <class T>
  requires(std::numeric_limits<T>::is_specialized) KERAMOS_FORCEINLINE_FUNCTION static constexpr T
      identity() {
    return detail::extremes<T>::smallest;
  }
};

struct bit_and {
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return static_cast<T>(~T(0));
  }
};

struct bit_or {
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return T(0);
  }
};

struct bit_xor {
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
  template <std::integral T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return T(0);
  }
};

struct logical_and {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a && b);
  }
  template <detail::has_zero_and_one T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return static_cast<T>(true);
  }
};

struct logical_or {
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(const T& a, const T& b) const {
    return static_cast<T>(a || b);
  }
  template <detail::has_zero_and_one T>
  KERAMOS_FORCEINLINE_FUNCTION static constexpr T identity() {
    return static_cast<T>(false);
  }
};

/// Whether `Op` tells what it leaves unchanged: `Op::identity<T>()`. An operator of your own may.
template <class Op, class T>
concept has_known_identity = requires {
  { Op::template identity<T>() } -> std::convertible_to<T>;
};

}  // namespace keramos

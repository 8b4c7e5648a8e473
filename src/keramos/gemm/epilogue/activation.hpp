// What networks apply to each element of a layer's product: `epilogue::relu()`, `clamp(low, high)`, `gelu()`, `gelu_tanh()`,
// `silu()`.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

#include <keramos/base/complex.hpp>
#include <keramos/base/error.hpp>
#include <keramos/gemm/epilogue/convert.hpp>
#include <keramos/gemm/epilogue/data.hpp>
#include <keramos/gemm/epilogue/math.hpp>

namespace keramos::epilogue {

namespace parts {

/// True, or the one error that says that complex numbers have no order.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION constexpr bool has_order() {
  static_assert(!detail::is_complex<T>, "keramos: activations and clamp compare numbers; C's are complex");
  return !detail::is_complex<T>;
}

/// A bound as a number of type T: the nearest, if both are integers.
template <class T, class S>
KERAMOS_FORCEINLINE_FUNCTION constexpr T bound(const S& value) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<S>) {
    constexpr S low = lowest_of<T, S>, high = largest_of<T, S>;
    return static_cast<T>(clamped(value, low, high));
  } else {
    return element<T>(value);
  }
}
/// A bound as messages have it.
template <class S>
std::string text(const S& value) {
  if constexpr (std::is_arithmetic_v<S>)
    return std::to_string(value);
  else
    return std::to_string(static_cast<float>(value));
}
/// Holds two bounds. Integers with a sign and without have one with a sign, in which the largest are too many.
template <class A, class B>
struct bounds_of {
  using type = std::common_type_t<A, B>;
};
template <std::integral A, std::integral B>
requires(std::is_signed_v<A> != std::is_signed_v<B>) struct bounds_of<A, B> {
  using type = std::intmax_t;
};

/// How close to the function results are: to sums' type, or to C's elements of two bytes, which takes devices half of the
/// instructions.
enum class precision { of_sums, of_two_bytes };

// |x|·F(-|x|) of functions x·F(x) where F rises from 0 to 1 and F(-x) = 1 - F(x); for a = |x|.
struct gelu_tail {
  template <precision P, class M>
  KERAMOS_FORCEINLINE_FUNCTION static M of(M a) {
    if constexpr (P == precision::of_two_bytes)
      return rough_weighted_normal_tail(a);
    else
      return weighted_normal_tail(a);
  }
};
struct silu_tail {
  template <precision P, class M>
  KERAMOS_FORCEINLINE_FUNCTION static M of(M a, M y) {  // a/(1 + exp(y))
    if constexpr (P == precision::of_two_bytes)
      return a * rough_logistic_tail(y);
    else
      return a * logistic_tail(y);
  }
  template <precision P, class M>
  KERAMOS_FORCEINLINE_FUNCTION static M of(M a) {
    return of<P>(a, a);
  }
};
struct gelu_tanh_tail {
  template <precision P, class M>
  KERAMOS_FORCEINLINE_FUNCTION static M of(M a) {                    // (1 - tanh(u))/2 = 1/(1 + exp(2u))
    constexpr M twice_root = M(1.5957691216057307117597842397375L);  // 2·√(2/π)
    return silu_tail::of<P>(a, twice_root * (a + M(0.044715L) * (a * a * a)));
  }
};

/// x·F(x) as max(x, 0) - |x|·F(-|x|), which cancels nothing and needs no branch. |x| is kept below a limit from which on
/// tails are 0, so that there is no ∞·0. NaN comes through max(x, 0).
template <class Tail, precision P, class T>
KERAMOS_FORCEINLINE_FUNCTION T gated(T acc) {
  static_assert(!std::is_integral_v<T>,
                "keramos: gelu, gelu_tanh and silu need a floating-point C; relu and clamp take integers");
  if constexpr (has_order<T>()) {
    using M = math_type<T>;
    const M x = static_cast<M>(acc);
    const M positive = x < M(0) ? M(0) : x;
    M size;
    if constexpr (P == precision::of_two_bytes)
      size = std::fmin(std::fabs(x), M(104));
    else
      size = size_below(x, M(1000));
    acc = static_cast<T>(positive - Tail::template of<P>(size));
  }
  return acc;
}

/// gated() as an epilogue.
template <class Tail, precision P = precision::of_sums>
struct gated_block {
  using epilogue_block = gated_block;

  /// The same for sums that become elements of this type.
  template <class C>
  constexpr auto for_elements() const {
    constexpr precision of_c = sizeof(C) == 2 ? precision::of_two_bytes : precision::of_sums;
    return gated_block<Tail, of_c>();
  }
  /// Hosts have no instructions for the shorter forms, and compute to the precision of sums.
  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION T operator()(T acc, index_t, index_t, index_t) const {
    KOKKOS_IF_ON_HOST((return gated<Tail, precision::of_sums>(acc);))
    KOKKOS_IF_ON_DEVICE((return gated<Tail, P>(acc);))
  }
};

}  // namespace parts

struct relu_block {
  using epilogue_block = relu_block;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    if constexpr (parts::has_order<T>()) acc = acc < T(0) ? T(0) : acc;
    return acc;
  }
};

using gelu_block = parts::gated_block<parts::gelu_tail>;
using gelu_tanh_block = parts::gated_block<parts::gelu_tanh_tail>;
using silu_block = parts::gated_block<parts::silu_tail>;

template <class S>
struct clamp_block {
  using epilogue_block = clamp_block;

  S low;
  S high;

  template <class T>
  KERAMOS_FORCEINLINE_FUNCTION constexpr T operator()(T acc, index_t, index_t, index_t) const {
    if constexpr (parts::has_order<T>()) {
      const T l = parts::bound<T>(low), h = parts::bound<T>(high);
      acc = acc < l ? l : h < acc ? h : acc;
    }
    return acc;
  }
};

/// max(acc, 0). NaN stays NaN, and -0 stays -0.
constexpr auto relu() { return relu_block{}; }

/// Into [low, high], as numbers of C's type; of integers the nearest that it has. NaN stays NaN. `low` is at most `high`, or it
/// throws invalid_argument.
template <class A, class B>
constexpr auto clamp(A low, B high) {
  using S = typename parts::bounds_of<A, B>::type;
  const auto held = [](auto x) {
    if constexpr (std::is_integral_v<S>)
      return parts::bound<S>(x);
    else
      return static_cast<S>(x);
  };
  if (!(held(low) <= held(high)))
    throw invalid_argument("keramos::epilogue::clamp: low is " + parts::text(low) + " and high is " +
                           parts::text(high) + "; low must be at most high");
  return clamp_block<S>{held(low), held(high)};
}

// Those that follow are for floating-point C; types narrower than float are computed in float. NaN stays NaN, +∞ stays,
// and -∞ gives 0. With u = 2^-24 (float; 2^-53 for double) the result f(x) has an error of at most 4u(2 + s)|f(x)|;
// s, given below, is 0 for positive x. Results below 2e-36 (float) and 3e-305 (double) may be 0.
//
// On GPUs, where C has elements of two bytes, they have an error of at most 2^-12·|f(x)| + 2^-134, before what follows them and
// the rounding to C's type.

/// acc·Φ(acc), Φ the distribution of a normal variable: (acc/2)·(1 + erf(acc/√2)). s = x² (float), 1 (double).
/// Hendrycks and Gimpel, "Gaussian Error Linear Units (GELUs)", arXiv:1606.08415.
constexpr auto gelu() { return gelu_block{}; }

/// The usual approximation of gelu, (acc/2)·(1 + tanh(√(2/π)·(acc + 0.044715·acc³))). s = 2√(2/π)·|x + 0.044715·x³|.
constexpr auto gelu_tanh() { return gelu_tanh_block{}; }

/// acc/(1 + exp(-acc)), also called swish. s = 0.
constexpr auto silu() { return silu_block{}; }

}  // namespace keramos::epilogue

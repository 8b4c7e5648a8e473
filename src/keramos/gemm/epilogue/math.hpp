// The functions behind activations. Hosts' mathematical library is called for each element, at 8 to 10 ns for erf and
// tanh, and compilers do not vectorise the calls; so float and double have forms without branches or calls here. Those of
// double are for devices as well, whose erfc has branches. Internal.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include <keramos/base/kokkos.hpp>
#include <keramos/base/macros.hpp>

namespace keramos::epilogue::parts {

/// In which type functions of a T are computed: float for half types.
template <class T>
using math_type = std::conditional_t<std::is_same_v<T, double> || std::is_same_v<T, long double>, T, float>;

/// |x| if it is below `limit`, else 0, also for NaN. By a mask, because g++ makes branches of conditions, which end
/// vectorisation; without their sign floats compare as integers do.
inline float host_size_below(float x, float limit) {
  const std::int32_t size = std::bit_cast<std::int32_t>(x) & 0x7fffffff;
  const std::int32_t below = (size - std::bit_cast<std::int32_t>(limit)) >> 31;  // all bits, or none
  return std::bit_cast<float>(size & below);
}

/// exp(y) for y <= 0, within 2 ulp; 0 from -87 on, and for NaN: the results there are denormal numbers or close to them,
/// with which processors take a hundred cycles each.
///
/// y = n·ln 2 + r with ln 2 in two parts (Cody and Waite, "Software Manual for the Elementary Functions", 1980); the
/// polynomial is a Chebyshev fit of (exp(r) - 1 - r) / r² for |r| <= 0.35, with an error of 1e-8 in exp(r).
inline float host_exp(float y) {
  // All bits, or none from -87 on.
  const std::int32_t size = std::bit_cast<std::int32_t>(y) & 0x7fffffff;
  const std::int32_t normal = (size - std::bit_cast<std::int32_t>(87.f)) >> 31;
  y = -std::bit_cast<float>(size & normal);
  const std::int32_t n = static_cast<std::int32_t>(y * 1.44269504f - 0.5f);
  const float whole = static_cast<float>(n);
  const float r = (y - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 1.392692661e-3f;
  p = p * r + 8.363773874e-3f;
  p = p * r + 4.166655011e-2f;
  p = p * r + 1.666657338e-1f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.f;
  p *= std::bit_cast<float>((n + 127) << 23);  // 2^n
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) & normal);
}

/// 1/q for 1 <= q < 2^100 with a relative error of at most 9e-7, without a branch.
///
/// q·start is in [1.414, 1.457], as exponents change their sign in a subtraction and mantissas nearly so; the Chebyshev
/// polynomial of degree 2 does the rest.
KERAMOS_FORCEINLINE_FUNCTION float rough_inverse(float q) {
  const float start = __builtin_bit_cast(float, 0x7f350000u - __builtin_bit_cast(std::uint32_t, q));
  const float y = q * start;
  return ((0.33809937f * y - 1.456046f) * y + 2.0900676f) * start;
}
/// The same within 2 ulp, for devices: the error's square is left.
KERAMOS_FORCEINLINE_FUNCTION float inverse(float q) {
  const float near = rough_inverse(q);
  return near + near * (1.f - q * near);
}

/// erfc(a/√2)/2 for a >= 0, a normal variable's probability to exceed a, from t = 1/(1 + 0.35·a) and e = exp(-a²/2).
///
/// e times a polynomial in t. Shepherd and Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x in
/// 0 <= x < ∞", Math. Comp. 36 (1981), expand in (x - K)/(x + K), which is linear in 1/(x + K). This one is a Chebyshev
/// fit for a <= 15, with a relative error of 4e-8.
KERAMOS_FORCEINLINE_FUNCTION float normal_tail_of(float t, float e) {
  float p = -2.9770439e-2f;
  p = p * t + 1.469509222e-1f;
  p = p * t - 2.617126692e-1f;
  p = p * t + 1.658018015e-1f;
  p = p * t - 2.748288955e-2f;
  p = p * t + 1.07262773e-1f;
  p = p * t + 1.194170361e-1f;
  p = p * t + 1.39914804e-1f;
  p = p * t + 1.396186429e-1f;
  return p * t * e;
}
/// Of a. Hosts divide vectors, and from a = 13.2 on have 0. Devices divide in a function with branches, between which they
/// cannot mix elements, but have an exponential function without.
inline float host_normal_tail(float a) {
  return normal_tail_of(1.f / (1.f + 0.35f * a), host_exp(-0.5f * (a * a)));
}
KERAMOS_FORCEINLINE_FUNCTION float device_normal_tail(float a) {
  return normal_tail_of(inverse(1.f + 0.35f * a), std::exp(-0.5f * (a * a)));
}

/// All bits if size < limit, else none, also for NaN; both without a sign.
KERAMOS_FORCEINLINE_FUNCTION std::uint64_t mask_below(double size, double limit) {
  // By an unsigned shift: AVX2 has no arithmetic one of 64 bits, and g++ 11 does not do without.
  return ((__builtin_bit_cast(std::uint64_t, limit) - 1 - __builtin_bit_cast(std::uint64_t, size)) >> 63) - 1;
}
KERAMOS_FORCEINLINE_FUNCTION double masked(double x, std::uint64_t mask) {
  return __builtin_bit_cast(double, __builtin_bit_cast(std::uint64_t, x) & mask);
}

/// exp(y + low) for y <= 0 and |low| <= 0.001; 0 from y = -708 on, where the next results would be denormal numbers.
/// Within 1.5 ulp where `low` is 0, or y has 42 bits or fewer.
///
/// The same way as host_exp. n stands in the last bits of y / ln 2 + 1.5·2^52, so that nothing is converted. The
/// polynomial is the best by Remez' algorithm for |r| <= 0.3476, with a relative error of 2^-57.9 in exp(r).
KERAMOS_FORCEINLINE_FUNCTION double exp_of_sum(double y, double low) {
  constexpr double shift = 0x1.8p52;
  const double shifted = y * 1.4426950408889634 + shift;
  const double n = shifted - shift;
  const double r = (y - n * 0.6931471805598903) - (n * 5.497923018708371e-14 - low);
  double p = 2.499970231994897e-08;
  p = p * r + 2.7630662256201096e-07;
  p = p * r + 2.755758962738916e-06;
  p = p * r + 2.4801492029823543e-05;
  p = p * r + 0.0001984126950061079;
  p = p * r + 0.0013888888944560925;
  p = p * r + 0.008333333333498248;
  p = p * r + 0.041666666666527075;
  p = p * r + 0.16666666666666405;
  p = p * r + 0.5000000000000011;
  p = p * (r * r) + r + 1.;
  const std::uint64_t scaled =  // p·2^n
      __builtin_bit_cast(std::uint64_t, p) + (__builtin_bit_cast(std::uint64_t, shifted) << 52);
  return masked(__builtin_bit_cast(double, scaled), mask_below(std::fabs(y), 708.));
}

/// 1/q for 1 <= q < 2^1000, within 1.5 ulp, without a branch.
///
/// q·start is in [1.414, 1.457], as exponents change their sign in a subtraction and mantissas nearly so; the Chebyshev
/// polynomial of degree 2 leaves a relative error of 8.4e-7, and the last line its third power.
KERAMOS_FORCEINLINE_FUNCTION double inverse(double q) {
  const double start = __builtin_bit_cast(double, 0x7fe6a00000000000u - __builtin_bit_cast(std::uint64_t, q));
  const double y = q * start;
  const double near = ((0.3380993713292397 * y - 1.456045989315236) * y + 2.0900674705781779) * start;
  const double error = 1. - q * near;
  return near + near * (error * error + error);
}

/// p/q for 1 <= q < 2^1000. Devices divide in a function with branches, between which they cannot mix elements; hosts
/// divide vectors.
KERAMOS_FORCEINLINE_FUNCTION double quotient(double p, double q) {
  KOKKOS_IF_ON_HOST((return p / q;))
  KOKKOS_IF_ON_DEVICE((return p * inverse(q);))
}

/// a·erfc(a/√2)/2 for a >= 0, with an error of at most 12·2^-53 of it while a < 37.6; from there on 0.
///
/// exp(-a²/2) times a quotient of polynomials that interpolates at 20 Chebyshev nodes in (a - 4)/(a + 4), a <= 37.7, with a
/// relative error of 2^-52.9. All coefficients are positive, so that no sum cancels. Even and odd powers are
/// summed apart, which takes half the steps, and rounds half as often. a² is that of a's first 21 bits,
/// exactly, and a small rest: as one number its rounding would be an error of up to 700·2^-53.
KERAMOS_FORCEINLINE_FUNCTION double weighted_normal_tail(double a) {
  const double high = masked(a, 0xffffffff00000000u), half = -0.5 * high;
  const double e = exp_of_sum(half * high, (a - high) * (half - 0.5 * a));
  const double a2 = a * a;
  double p_odd = 1.382100833702671e-06;
  p_odd = p_odd * a2 + 0.0004899072053509552;
  p_odd = p_odd * a2 + 0.023613524244263558;
  p_odd = p_odd * a2 + 0.2893105356521224;
  p_odd = p_odd * a2 + 0.7748913772423388;
  double p_even = 3.719329079436342e-05;
  p_even = p_even * a2 + 0.004086674539209112;
  p_even = p_even * a2 + 0.09768029240643264;
  p_even = p_even * a2 + 0.5940425171536298;
  double q_odd = 9.322975432967657e-05;
  q_odd = q_odd * a2 + 0.010337003692708787;
  q_odd = q_odd * a2 + 0.2549054858096964;
  q_odd = q_odd * a2 + 1.7143327911718638;
  q_odd = q_odd * a2 + 2.347667315287537;
  double q_even = 3.4644130281600643e-06;
  q_even = q_even * a2 + 0.0012314796660981486;
  q_even = q_even * a2 + 0.06041141437476101;
  q_even = q_even * a2 + 0.7819631497047911;
  q_even = q_even * a2 + 2.5612525390769094;
  const double p = (p_even * a + p_odd) * a + 0.5;
  const double q = (q_even * a + q_odd) * a + 1.;
  return quotient(a * p * e, q);  // a first: the tail itself may be a denormal number
}

/// |x| if it is below `limit`, else 0, also for NaN.
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M size_below(M x, M limit) {
  if constexpr (std::is_same_v<M, double>) {
    return masked(std::fabs(x), mask_below(std::fabs(x), limit));
  } else if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return host_size_below(x, limit);))
    KOKKOS_IF_ON_DEVICE((return std::fabs(x) < limit ? std::fabs(x) : 0.f;))
  } else {
    return std::fabs(x) < limit ? std::fabs(x) : M(0);
  }
}

/// a·erfc(a/√2)/2 for a >= 0
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M weighted_normal_tail(M a) {
  if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return a * host_normal_tail(a);))
    KOKKOS_IF_ON_DEVICE((return a * device_normal_tail(a);))
  } else {
    constexpr M root_half = M(0.70710678118654752440L);
    return a * (M(0.5) * std::erfc(a * root_half));
  }
}

/// exp(y) for y <= 0
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M decay(M y) {
  if constexpr (std::is_same_v<M, double>) {
    return exp_of_sum(y, 0.);
  } else if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return host_exp(y);))
    KOKKOS_IF_ON_DEVICE((return std::exp(y);))
  } else {
    return std::exp(y);
  }
}

/// 1/(1 + exp(y)) for y >= 0: without overflow
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M logistic_tail(M y) {
  const M e = decay(-y);
  if constexpr (std::is_same_v<M, double>) {
    return quotient(e, 1. + e);
  } else if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return e / (1.f + e);))
    KOKKOS_IF_ON_DEVICE((return e * inverse(1.f + e);))
  } else {
    return e / (M(1) + e);
  }
}

// For results that are rounded to two bytes, by functions that devices have as instructions: with a relative error of at most
// 2^-12. NaN is taken for the limit.

/// a·erfc(a/√2)/2 for a >= 0; from a = 14 on it is below 2^-142.
///
/// log2(erfc(a/√2)/2) is smooth enough for a polynomial, here the best one for a <= 14, found by linear programming.
KERAMOS_FORCEINLINE_FUNCTION float rough_weighted_normal_tail(float a) {
  a = std::fmin(a, 14.f);
  float p = 2.2083304e-8f;
  p = p * a - 1.4761199e-6f;
  p = p * a + 4.2375927e-5f;
  p = p * a - 6.8924390e-4f;
  p = p * a + 7.1038892e-3f;
  p = p * a - 4.9827419e-2f;
  p = p * a - 4.6424517e-1f;
  p = p * a - 1.1482117f;
  p = p * a - 1.0002599f;
  return a * std::exp2(p);
}
/// 1/(1 + exp(y)) for y >= 0; from y = 104 on it is 0.
KERAMOS_FORCEINLINE_FUNCTION float rough_logistic_tail(float y) {
  const float e = std::exp2(-1.44269504f * y);
  return e * rough_inverse(1.f + e);
}

}  // namespace keramos::epilogue::parts

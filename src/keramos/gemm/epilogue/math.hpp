// The functions behind activations. Hosts' mathematical library is called for each element, at 8 to 10 ns for erf and
// tanh, and compilers do not vectorise the calls; so float has forms without branches or calls here. Internal.
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

/// erfc(a/√2)/2 for a >= 0: a normal variable's probability to exceed a.
///
/// exp(-a²/2) times a polynomial in t = 1/(1 + 0.35·a), as by Shepherd and Laframboise, "Chebyshev approximation of
/// (1 + 2x) exp(x²) erfc(x) in 0 <= x < ∞", Math. Comp. 36 (1981). This one is a Chebyshev fit for a <= 15, with a
/// relative error of 4e-8; from a = 13.2 on exp(-a²/2) is 0 here.
inline float host_normal_tail(float a) {
  const float t = 1.f / (1.f + 0.35f * a);
  float p = -2.9770439e-2f;
  p = p * t + 1.469509222e-1f;
  p = p * t - 2.617126692e-1f;
  p = p * t + 1.658018015e-1f;
  p = p * t - 2.748288955e-2f;
  p = p * t + 1.07262773e-1f;
  p = p * t + 1.194170361e-1f;
  p = p * t + 1.39914804e-1f;
  p = p * t + 1.396186429e-1f;
  return p * t * host_exp(-0.5f * (a * a));
}

/// |x| if it is below `limit`, else 0, also for NaN.
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M size_below(M x, M limit) {
  if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return host_size_below(x, limit);))
    KOKKOS_IF_ON_DEVICE((return std::fabs(x) < limit ? std::fabs(x) : 0.f;))
  } else {
    return std::fabs(x) < limit ? std::fabs(x) : M(0);
  }
}

/// erfc(a/√2)/2 for a >= 0
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M normal_tail(M a) {
  constexpr M root_half = M(0.70710678118654752440L);
  if constexpr (std::is_same_v<M, float>) {
    KOKKOS_IF_ON_HOST((return host_normal_tail(a);))
    KOKKOS_IF_ON_DEVICE((return 0.5f * std::erfc(a * root_half);))
  } else {
    return M(0.5) * std::erfc(a * root_half);
  }
}

/// exp(y) for y <= 0
template <class M>
KERAMOS_FORCEINLINE_FUNCTION M decay(M y) {
  if constexpr (std::is_same_v<M, float>) {
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
  return e / (M(1) + e);
}

}  // namespace keramos::epilogue::parts

// Whether C is epilogue(A·B), by the reference. Without Kokkos.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include <keramos/gemm/reference.hpp>

#include "measure/core/random.hpp"

namespace keramos::perf {

// What is done to a sum behind adding a bias for each column, by the type of C: GELU is for floating-point numbers, integers
// have ReLU, complex numbers have no order. Sums that become integers of eight bits are multiplied by a factor before, and
// rounded to the nearest and clamped at last.
enum class behind_bias { gelu, relu, nothing };
template <class C>
inline constexpr behind_bias behind_bias_of = keramos::detail::is_complex<C> ? behind_bias::nothing
                                              : std::is_integral_v<C>        ? behind_bias::relu
                                                                             : behind_bias::gelu;

// In what epilogues compute, where T is the wider element of A and B: the type of a bias.
template <class T, class C>
using epilogue_number =
    std::conditional_t<reference::is_quantized<C>, float,
                       std::conditional_t<keramos::detail::is_complex<T>, T, reference::sum_t<T>>>;

// By how much an element may be off, and what it is.
template <class S>
struct gelu_of_sum {
  using wide = reference::wider_t<S>;
  wide expected, bound;

  // Of a sum that is off by `error` at most, to which a bias is added in S. What gelu adds: epilogue/activation.hpp; its slope
  // is below 1.13.
  gelu_of_sum(wide sum, wide error, wide bias) {
    constexpr wide u = reference::unit_roundoff<S>, root_half = 0.70710678118654752440084436210485L,
                   least = std::is_same_v<S, float> ? wide(2e-36) : wide(3e-305L);
    const wide x = sum + bias;
    expected = x / 2 * std::erfc(-x * root_half);
    const wide s = x > 0 ? wide(0) : std::is_same_v<S, float> ? x * x : wide(1);
    bound = wide(1.13) * (error + u * (std::abs(x) + error)) + 4 * u * (2 + s) * std::abs(expected) + least;
  }
};

// Of an element of C: what it is and must be, by how much it may be off, and by how much it is.
template <class Value, class Real>
struct judged_element {
  Value got, expected;
  Real bound, error;

  bool is_right() const { return error <= bound; }  // a NaN is not
};

// `sum` is of elements T and the judge's, `bias` and `factor` as above.
template <class T, class C, class Sum>
auto judged(const C& got, const Sum& sum, const epilogue_number<T, C>& bias, float factor,
            const reference::arithmetic& how, bool on_host) {
  if constexpr (reference::is_quantized<C>) {
    const double of_sum = double(factor) * double(std::int32_t(sum.value));
    const double expected = std::clamp(of_sum + double(bias), 0.0, 127.0);
    const double bound =
        0.5 + 4 * reference::unit_roundoff<float> * (std::abs(of_sum) + std::abs(double(bias)));
    return judged_element<double, double>{double(got), expected, bound, std::abs(double(got) - expected)};
  } else if constexpr (std::is_integral_v<C>) {  // modulo 2^32
    const auto x = std::int32_t(sum.value + std::uint32_t(bias));
    const double expected = std::max(x, 0);
    return judged_element<double, double>{double(got), expected, 0, std::abs(double(got) - expected)};
  } else if constexpr (keramos::detail::is_complex<C>) {
    const reference::element_judge<T, C> judge(1.0, 0.0, how);
    using wide = typename Sum::wide;
    using real = typename Sum::real;
    constexpr real u = reference::unit_roundoff<reference::sum_t<T>>;
    const wide expected = sum.value + wide(bias);
    const real of_sum = judge.bound(sum, C(0));
    return judged_element<wide, real>{wide(got), expected, of_sum + u * (Sum::size(expected) + of_sum),
                                      judge.error(got, expected)};
  } else {
    using S = reference::sum_t<T>;
    using wide = reference::wider_t<S>;
    const reference::element_judge<T, S> judge(1.0, 0.0, how);
    const gelu_of_sum<S> right(sum.value, judge.bound(sum, S(0)), bias);
    const wide rough =
        !on_host && sizeof(C) == 2 ? std::abs(right.expected) / 4096 : 0;  // gelu for a C of two bytes
    const wide near = right.bound + rough;
    const wide bound = near + reference::rounding_to_c<S, C>(std::abs(right.expected) + near);
    return judged_element<wide, wide>{wide(got), right.expected, bound, std::abs(wide(got) - right.expected)};
  }
}

// What is wrong with an element of C, n x n as A and B, row-major. All are judged where that takes no longer than 2^27
// multiply-adds, otherwise 4096 at random, and the last one.
template <class A, class B, class C>
std::optional<std::string> wrong_element(const A* a, const B* b,
                                         const epilogue_number<reference::wider_element<A, B>, C>* bias,
                                         float factor, const C* c, std::int64_t n, bool on_host,
                                         std::uint64_t seed) {
  using T = reference::wider_element<A, B>;
  const auto how = reference::arithmetic_of(keramos::detail::scalar_type_of<T>::value, on_host);
  const reference::operand<A> of_a{a, n, 1};
  const reference::operand<B> of_b{b, n, 1};
  const bool all = n <= 512;
  const std::int64_t count = all ? n * n : 4097;
  const random_stream random(seed, 0x6765);
  for (std::int64_t e = 0; e < count; ++e) {
    const auto at = all             ? e
                    : e + 1 < count ? std::int64_t(random.bits(std::uint64_t(e)) % std::uint64_t(n * n))
                                    : n * n - 1;
    const auto i = at / n, j = at % n;
    const auto sum = reference::product_element(of_a, of_b, i, j, n, how);
    const auto here = judged<T>(c[at], sum, bias[j], factor, how, on_host);
    if (!here.is_right()) {
      std::ostringstream text;
      text << "C(" << i << ", " << j << ") is " << here.got << ", not " << here.expected << ", by more than "
           << here.bound;
      return text.str();
    }
  }
  return std::nullopt;
}

}  // namespace keramos::perf

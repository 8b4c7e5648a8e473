// Whether C is gelu(A·B + bias), by the reference. Without Kokkos.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

#include <keramos/gemm/reference.hpp>

#include "measure/core/random.hpp"

namespace keramos::perf {

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

// What is wrong with an element of C, n x n as A and B, row-major. All are judged where that takes no longer than 2^27
// multiply-adds, otherwise 4096 at random, and the last one.
template <class A, class C>
std::optional<std::string> wrong_gelu(const A* a, const A* b, const reference::sum_t<A>* bias, const C* c,
                                      std::int64_t n, bool on_host, std::uint64_t seed) {
  using S = reference::sum_t<A>;
  const auto how = reference::arithmetic_of(keramos::detail::scalar_type_of<A>::value, on_host);
  const reference::element_judge<A, S> judge(1.0, 0.0, how);
  const reference::operand<A> of_a{a, n, 1}, of_b{b, n, 1};
  const bool all = n <= 512;
  const std::int64_t count = all ? n * n : 4097;
  const random_stream random(seed, 0x6765);
  for (std::int64_t e = 0; e < count; ++e) {
    const auto at = all             ? e
                    : e + 1 < count ? std::int64_t(random.bits(std::uint64_t(e)) % std::uint64_t(n * n))
                                    : n * n - 1;
    const auto i = at / n, j = at % n;
    const auto sum = reference::product_element(of_a, of_b, i, j, n, how);
    const gelu_of_sum<S> right(sum.value, judge.bound(sum, S(0)), bias[j]);
    const auto rough =
        !on_host && sizeof(C) == 2 ? std::abs(right.expected) / 4096 : 0;  // gelu for a C of two bytes
    const auto near = right.bound + rough;
    const auto bound = near + reference::rounding_to_c<S, C>(std::abs(right.expected) + near);
    const auto got = reference::wider_t<S>(c[at]);
    if (!(std::abs(got - right.expected) <= bound)) {
      std::ostringstream text;
      text << "C(" << i << ", " << j << ") is " << got << ", not " << right.expected << ", by more than "
           << bound;
      return text.str();
    }
  }
  return std::nullopt;
}

}  // namespace keramos::perf

// A product with an epilogue, of one type: included by the files that instantiate it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <keramos/gemm/fused.hpp>
#include <keramos/gemm/reference.hpp>
#include <keramos/keramos.hpp>

#include "judge.hpp"
#include "measure/device/machine_queue.hpp"
#include "products.hpp"

namespace keramos::perf::fused {

using space = keramos::default_execution_space;
template <class T>
using matrix = Kokkos::View<T**, Kokkos::LayoutRight, space>;
template <class T>
using vector = Kokkos::View<T*, space>;

/// The epilogue for a C of these elements (judge.hpp); `factor` is for those of eight bits.
template <class C, class Number>
auto epilogue_of(const vector<Number>& bias, [[maybe_unused]] float factor) {
  if constexpr (reference::is_quantized<C>)
    return epilogue::scale(factor) | epilogue::bias_by_column(bias) | epilogue::relu();
  else if constexpr (behind_bias_of<C> == behind_bias::relu)
    return epilogue::bias_by_column(bias) | epilogue::relu();
  else if constexpr (behind_bias_of<C> == behind_bias::nothing)
    return epilogue::bias_by_column(bias);
  else
    return epilogue::bias_by_column(bias) | epilogue::gelu();
}
template <class C>
constexpr const char* text_of_epilogue() {
  if constexpr (reference::is_quantized<C>)
    return "relu(s·A·B + bias), rounded";
  else if constexpr (behind_bias_of<C> == behind_bias::relu)
    return "relu(A·B + bias)";
  else if constexpr (behind_bias_of<C> == behind_bias::nothing)
    return "A·B + bias";
  else
    return "gelu(A·B + bias)";
}

/// C = epilogue(P), by the same functions.
template <class P, class C, class Number, class Epilogue>
struct apply_to_c {
  matrix<P> p;
  matrix<C> c;
  Epilogue epilogue;

  KERAMOS_FUNCTION void operator()(keramos::id<2> at) const {
    Number x = epilogue(static_cast<Number>(p(at[0], at[1])), at[0], at[1], keramos::index_t(0));
    if constexpr (reference::is_quantized<C>)
      x = keramos::epilogue::saturate_block<C>()(x, at[0], at[1], keramos::index_t(0));
    c(at[0], at[1]) = static_cast<C>(x);
  }
};

template <class A, class B, class C>
struct operands {
  using widest = reference::wider_element<A, B>;
  using number = epilogue_number<widest, C>;
  using plain = std::conditional_t<reference::is_quantized<C>, std::int32_t, C>;  // elements of A·B
  matrix<A> a;
  matrix<B> b;
  matrix<C> c;
  matrix<plain> p;  // A·B
  vector<number> bias;
  float factor = 1;

  explicit operands(std::int64_t n) : a("A", n, n), b("B", n, n), c("C", n, n), bias("bias", n) {
    if constexpr (std::is_same_v<plain, C>)
      p = c;
    else
      p = matrix<plain>("A·B", n, n);
    std::mt19937_64 rng(n);
    std::normal_distribution<double> normal;
    const auto fill = [&](const auto& view, double size) {
      using element = std::remove_pointer_t<decltype(view.data())>;
      const auto host = Kokkos::create_mirror_view(view);
      for (std::size_t i = 0; i < view.size(); ++i) {
        const double x = size * normal(rng);
        if constexpr (std::is_integral_v<element>)
          host.data()[i] = element(std::clamp<double>(std::round(x), std::numeric_limits<element>::min(),
                                                      std::numeric_limits<element>::max()));
        else if constexpr (keramos::detail::is_complex<element>)
          host.data()[i] =
              element(typename element::value_type(x), typename element::value_type(size * normal(rng)));
        else
          host.data()[i] = element(reference::sum_t<element>(x));
      }
      Kokkos::deep_copy(view, host);
    };
    const double root = std::sqrt(double(n));
    if constexpr (reference::is_quantized<C>) {  // results go up to the end of C's range and beyond
      fill(a, 40), fill(b, 40), fill(bias, 20);
      factor = float(60 / (1600 * root));
    } else if constexpr (std::is_integral_v<C>) {
      fill(a, 300), fill(b, 300), fill(bias, 300 * 300 * root);
    } else {  // sums of about 1, where GELU is neither 0 nor the identity
      fill(a, 1 / root), fill(b, 1), fill(bias, 1);
    }
  }

  void multiply() const { gemm(machine_queue(), 1, a, b, 0, p); }
  void multiply_fused() const { gemm(machine_queue(), a, b, c, epilogue_of<C>(bias, factor)); }
  void multiply_then_apply() const {
    multiply();
    const auto epilogue = epilogue_of<C>(bias, factor);
    machine_queue().parallel_for(
        "keramos_perf_epilogue", keramos::range{c.extent(0), c.extent(1)},
        apply_to_c<plain, C, number, decltype(epilogue_of<C>(bias, factor))>{p, c, epilogue});
  }

  /// By how much elements of C, computed in two ways, may differ: sums are in another order, and C is rounded to its type once
  /// more, of elements that are a few units large. Integers are the same, but for a multiplication and an addition in one.
  static double most_difference(std::int64_t n) {
    if constexpr (std::is_integral_v<C>)
      return reference::is_quantized<C> ? 1 : 0;
    else
      return 200 * std::sqrt(double(n)) * reference::unit_roundoff<reference::part_t<number>> +
             (std::is_same_v<C, number> ? 0 : 32 * reference::unit_roundoff<reference::part_t<C>>);
  }
  static double difference(const C& x, const C& y) {
    if constexpr (keramos::detail::is_complex<C>) {
      const double re = std::abs(double(x.re) - double(y.re)), im = std::abs(double(x.im) - double(y.im));
      return std::isnan(re) ? re : std::max(im, re);
    } else {
      return std::abs(double(x) - double(y));
    }
  }

  // Elements of the fused product by the reference, and all of them beside those of the kernel apart, which is of other code.
  void check() const {
    const auto host_of = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    // No result of an epilogue of integers is negative.
    const C poison = std::is_integral_v<C> ? C(-1) : C(std::numeric_limits<float>::quiet_NaN());
    const auto result = [&](void (operands::*multiply)() const) {
      Kokkos::deep_copy(c, poison);
      (this->*multiply)();
      machine_queue().wait();
      const auto host = host_of(c);
      return std::vector<C>(host.data(), host.data() + host.size());
    };
    const auto fused = result(&operands::multiply_fused), separate = result(&operands::multiply_then_apply);
    const auto n = std::int64_t(c.extent(0));
    if (const auto wrong = wrong_element(host_of(a).data(), host_of(b).data(), host_of(bias).data(), factor,
                                         fused.data(), n, machine_queue().device().is_host, std::uint64_t(n)))
      throw std::runtime_error("the fused product is wrong: " + *wrong);
    const double bound = most_difference(n);
    for (std::size_t i = 0; i < fused.size(); ++i)
      if (!(difference(fused[i], separate[i]) <= bound))
        throw std::runtime_error("the fused product and the separate kernel do not give the same C");
  }
};

template <data_type>
epilogue_products make(std::int64_t n);

template <class A, class B = A, class C = A>
epilogue_products products_of(std::int64_t n) {
  using all = operands<A, B, C>;
  const all x(n);
  x.check();
  const auto timed = [x](void (all::*multiply)() const) {
    return [x, multiply](std::int64_t calls) {
      return seconds_on_queue([&] {
        for (std::int64_t i = 0; i < calls; ++i) (x.*multiply)();
      });
    };
  };
  return {text_of_epilogue<C>(), timed(&all::multiply), timed(&all::multiply_fused),
          timed(&all::multiply_then_apply)};
}

}  // namespace keramos::perf::fused

// A product with bias and GELU, of one type: included by the files that instantiate it.
#pragma once

#include <cmath>
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

template <class T>
auto bias_gelu(const vector<T>& bias) {
  return epilogue::bias_by_column(bias) | epilogue::gelu();
}

/// C = epilogue(C), by the same functions.
template <class T, class Epilogue>
struct apply_to_c {
  matrix<T> c;
  Epilogue epilogue;

  KERAMOS_FUNCTION void operator()(keramos::id<2> at) const {
    T& element = c(at[0], at[1]);
    element = T(epilogue(reference::sum_t<T>(element), at[0], at[1], keramos::index_t(0)));
  }
};

template <class T, class C>
struct operands {
  using sum = reference::sum_t<T>;
  matrix<T> a, b;
  matrix<C> c;
  vector<sum> bias;

  explicit operands(std::int64_t n) : a("A", n, n), b("B", n, n), c("C", n, n), bias("bias", n) {
    std::mt19937_64 rng(n);
    // Sums of about 1, where GELU is neither 0 nor the identity.
    const sum scale = sum(1 / std::sqrt(double(n)));
    std::normal_distribution<sum> normal;
    const auto fill = [&](const auto& view, sum factor) {
      using element = std::remove_pointer_t<decltype(view.data())>;
      const auto host = Kokkos::create_mirror_view(view);
      for (std::size_t i = 0; i < view.size(); ++i) host.data()[i] = element(factor * normal(rng));
      Kokkos::deep_copy(view, host);
    };
    fill(a, scale), fill(b, 1), fill(bias, 1);
  }

  void multiply() const { gemm(machine_queue(), 1, a, b, 0, c); }
  void multiply_fused() const { gemm(machine_queue(), a, b, c, bias_gelu(bias)); }
  void multiply_then_apply() const {
    multiply();
    machine_queue().parallel_for("keramos_perf_bias_gelu", keramos::range{c.extent(0), c.extent(1)},
                                 apply_to_c<C, decltype(bias_gelu(bias))>{c, bias_gelu(bias)});
  }

  // Elements of the fused product by the reference, and all of them beside those of the kernel apart, which is of other code.
  void check() const {
    const auto host_of = [](const auto& view) {
      return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    };
    const auto result = [&](void (operands::*multiply)() const) {
      Kokkos::deep_copy(c, C(std::numeric_limits<float>::quiet_NaN()));
      (this->*multiply)();
      machine_queue().wait();
      const auto host = host_of(c);
      return std::vector<C>(host.data(), host.data() + host.size());
    };
    const auto fused = result(&operands::multiply_fused), separate = result(&operands::multiply_then_apply);
    const auto n = std::int64_t(c.extent(0));
    if (const auto wrong = wrong_gelu(host_of(a).data(), host_of(b).data(), host_of(bias).data(),
                                      fused.data(), n, machine_queue().device().is_host, std::uint64_t(n)))
      throw std::runtime_error("the fused product is wrong: " + *wrong);
    // Sums in another order, and C rounded to its type once more, of elements that are a few units large.
    const double bound = 200 * std::sqrt(double(n)) * reference::unit_roundoff<sum> +
                         (std::is_same_v<C, sum> ? 0 : 32 * reference::unit_roundoff<C>);
    for (std::size_t i = 0; i < fused.size(); ++i)
      if (!(std::abs(double(fused[i]) - double(separate[i])) <= bound))
        throw std::runtime_error("the fused product and the separate kernel do not give the same C");
  }
};

template <class T, class C = T>
epilogue_products make(std::int64_t n);

template <class T, class C = T>
epilogue_products products_of(std::int64_t n) {
  const operands<T, C> x(n);
  x.check();
  const auto timed = [x](void (operands<T, C>::*multiply)() const) {
    return [x, multiply](std::int64_t calls) {
      return seconds_on_queue([&] {
        for (std::int64_t i = 0; i < calls; ++i) (x.*multiply)();
      });
    };
  };
  return {timed(&operands<T, C>::multiply), timed(&operands<T, C>::multiply_fused),
          timed(&operands<T, C>::multiply_then_apply)};
}

}  // namespace keramos::perf::fused

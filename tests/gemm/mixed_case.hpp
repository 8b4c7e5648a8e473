// Operands of two types: those that are known, each in both orders, and whole numbers, whose products have one right answer.
#pragma once

#include <gtest/gtest.h>

#include "gemm_case.hpp"

namespace keramos::test {

using c32 = Kokkos::complex<float>;
using c64 = Kokkos::complex<double>;

using mixes = testing::Types<elements<bfloat16, float, float>, elements<float, bfloat16, float>,
                             elements<float16, float, float>, elements<float, float16, float>,
                             elements<float, c32, c32>, elements<c32, float, c32>, elements<double, c64, c64>,
                             elements<c64, double, c64>>;

/// A whole number, and of complex ones another one beside it.
template <class T>
T whole(index_t x, index_t y) {
  if constexpr (complex_like<T>)
    return T(float(x % 5 - 2), float(y % 3 - 1));
  else
    return T(float(x % 5 - 2));
}
/// A, B and C of whole numbers.
template <class Elements>
struct whole_numbers {
  using A = typename Elements::a;
  using B = typename Elements::b;
  using C = typename Elements::c;
  index_t m, n, k;
  stored_matrix<A> a;
  stored_matrix<B> b;
  stored_matrix<C> c;

  whole_numbers(index_t m, index_t n, index_t k, layout of_c)
      : m(m), n(n), k(k), a(m, k, layout::right, 1, 1), b(k, n, layout::left, 2, 2), c(m, n, of_c, 0, 0) {
    for (index_t p = 0; p < k; ++p) {
      for (index_t i = 0; i < m; ++i) a.at(i, p) = whole<A>(i + 2 * p, i * p);
      for (index_t j = 0; j < n; ++j) b.at(p, j) = whole<B>(3 * p + j, p + j);
    }
    a.upload(), b.upload();
    forget_c();
  }

  void forget_c() {
    c.fill_all(poison<C>);
    c.upload();
  }

  /// A sum, which is a whole number.
  template <class Sum>
  static C as_c(const Sum& sum) {
    if constexpr (complex_like<C>)
      return C(sum.real(), sum.imag());
    else
      return C(sum);
  }

  /// Judges C and poisons it. `added(i, j)` is what an epilogue adds to the sums.
  template <class Added>
  testing::AssertionResult judge(const Added& added) {
    c.download();
    const reference_sums sums(a.applied(), b.applied(), m, n, k);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const C expected = as_c(sums(i, j).value) + C(added(i, j));
        if (!(c.at(i, j) == expected))
          return testing::AssertionFailure()
                 << "C(" << i << ", " << j << ") is " << c.at(i, j) << ", not " << expected;
      }
    forget_c();
    return testing::AssertionSuccess();
  }
};

}  // namespace keramos::test

// What tests of emulated products share: products of numbers in row-major order, and numbers of several kinds.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "gemm_case.hpp"

namespace keramos::test {

/// A·B of row-major m x k and k x n; `options_of(A, B, C)` says how.
template <class T>
std::vector<T> row_major_product(
    const std::vector<T>& a, const std::vector<T>& b, index_t m, index_t n, index_t k,
    const std::function<gemm_options(matrix_view<T>, matrix_view<T>, matrix_view<T>)>& options_of) {
  stored_matrix<T> x(m, k, layout::right, 0, 0), y(k, n, layout::right, 0, 0), z(m, n, layout::right, 0, 0);
  for (index_t i = 0; i < m * k; ++i) x.at(i / k, i % k) = a[i];
  for (index_t i = 0; i < k * n; ++i) y.at(i / n, i % n) = b[i];
  z.fill_all(poison<T>);
  x.upload(), y.upload(), z.upload();
  queue q;
  gemm(q, 1, x.view, y.view, 0, z.view, options_of(x.view, y.view, z.view)).wait();
  z.download();
  std::vector<T> c(m * n);
  for (index_t i = 0; i < m * n; ++i) c[i] = z.at(i / n, i % n);
  return c;
}

/// What is wrong with `got` in the place of `sum`: NaN and infinities are to be the same, others to differ by `most`.
template <class T>
testing::AssertionResult is_near(T got, T sum, T most) {
  const bool right = std::isnan(sum)   ? std::isnan(got)
                     : std::isinf(sum) ? got == sum
                                       : std::fabs(got - sum) <= most;
  if (right) return testing::AssertionSuccess();
  return testing::AssertionFailure() << got << " is not " << sum << ", by more than " << most;
}

/// Four kinds: uniform in (-1, 1), uniform in (0, 1), normal, and exp(spread * normal) with either sign, whose sizes differ
/// much.
inline std::vector<std::function<double()>> kinds_of_numbers(std::mt19937_64& rng, double spread) {
  const auto uniform = [&rng](double from) { return std::uniform_real_distribution<double>(from, 1)(rng); };
  const auto normal = [&rng] { return std::normal_distribution<double>()(rng); };
  return {[=] { return uniform(-1); }, [=] { return uniform(0); }, normal,
          [=, &rng] { return std::exp(spread * normal()) * (rng() % 2 ? 1 : -1); }};
}

}  // namespace keramos::test

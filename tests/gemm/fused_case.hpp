// An epilogue that knows where it is, and operands whose product it can be judged on, element by element.
#pragma once

#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "gemm_case.hpp"

namespace keramos::test {

inline constexpr bool on_host = backend::traits<default_execution_space>::is_host;

// Whole numbers, so that sums are exact and an element in the wrong place, or twice, shows.
template <class T>
T small(std::mt19937_64& rng) {
  const auto part = [&] { return int(rng() % 7) - (std::is_unsigned_v<T> ? 0 : 3); };
  if constexpr (complex_like<T>) {
    const int re = part();
    return T(float(re), float(part()));
  } else {
    return T(part());
  }
}
template <class T>
T code_of(index_t i, index_t j, index_t batch) {
  return T((i * 31 + j * 17 + batch * 101) % 1009);
}

/// A user's own: the place of an element, in each element; C's old one where it reads C.
template <class T>
struct place_of_each {
  bool reads;

  KERAMOS_FUNCTION bool reads_c() const { return reads; }
  KERAMOS_FUNCTION T operator()(T acc, T c, index_t i, index_t j, index_t batch) const {
    return (*this)(acc, i, j, batch) + T(2) * c;
  }
  KERAMOS_FUNCTION T operator()(T acc, index_t i, index_t j, index_t batch) const {
    return acc + T((i * 31 + j * 17 + batch * 101) % 1009);
  }
};

template <class T>
struct operands {
  stored_matrix<T> a, b, c;
  std::vector<T> before;

  operands(index_t m, index_t n, index_t k, layout la, layout lb, layout lc, std::uint64_t seed, bool reads)
      : a(m, k, la, 1, 2), b(k, n, lb, 2, 1), c(m, n, lc, 3, 0) {
    std::mt19937_64 rng(seed);
    a.fill_all(poison<T>), b.fill_all(poison<T>), c.fill_all(poison<T>);
    for (index_t i = 0; i < m; ++i)
      for (index_t p = 0; p < k; ++p) a.at(i, p) = small<T>(rng);
    for (index_t p = 0; p < k; ++p)
      for (index_t j = 0; j < n; ++j) b.at(p, j) = small<T>(rng);
    before.assign(std::size_t(m * n), T(0));
    if (reads)
      for (index_t i = 0; i < m; ++i)
        for (index_t j = 0; j < n; ++j) before[std::size_t(i * n + j)] = c.at(i, j) = small<T>(rng);
    a.upload(), b.upload(), c.upload();
  }

  testing::AssertionResult judge(bool reads, index_t batch) {
    c.download();
    const index_t m = c.view.rows, n = c.view.cols, k = a.view.cols;
    const reference_sums sums(a.applied(), b.applied(), m, n, k);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        T expected = T(sums(i, j).value) + code_of<T>(i, j, batch);
        if (reads) expected += T(2) * before[std::size_t(i * n + j)];
        if (!(c.at(i, j) == expected))
          return testing::AssertionFailure()
                 << m << 'x' << n << 'x' << k << ", problem " << batch << ": C(" << i << ", " << j << ") is "
                 << c.at(i, j) << ", not " << expected;
      }
    return testing::AssertionSuccess();
  }
};

}  // namespace keramos::test

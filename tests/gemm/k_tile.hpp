// K-tiles in panels with their numbers, and what is expected of their products: for tests that emulate matrix units.
#pragma once

#include <cstdint>
#include <random>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/keramos.hpp>

namespace keramos::test {

/// A k-tile of one operand as its panel, and its numbers (mn, k).
template <class Panel, class E, int MN, int K>
struct k_tile {
  using panel = Panel;
  tiling::reading<E> how;
  std::vector<double> numbers;
  std::vector<detail::simt::run<E, 16 / sizeof(E)>> memory;  // aligned to 16 bytes

  /// `beside`: how far elements lie beside their numbers, as a part of these.
  k_tile(const tiling::reading<E>& read, std::mt19937& random, float beside = 0)
      : how(read), numbers(MN * K), memory(panel::size * sizeof(E) / 16 + 1) {
    auto* const elements = reinterpret_cast<E*>(memory.data());
    for (int mn = 0; mn < MN; ++mn)
      for (int k = 0; k < K; ++k) {
        E& x = elements[panel::offset(mn, k)];
        if constexpr (std::is_same_v<E, integer8>) {
          x.bits = std::uint8_t(random());
          numbers[mn * K + k] = how.is_signed ? std::int8_t(x.bits) : x.bits;
        } else if constexpr (std::is_same_v<E, float8>) {
          const float number = float(int(random() % 17) - 8);
          x.bits = how.is_e5m2 ? float8_e5m2(number).bits : float8_e4m3(number).bits;
          numbers[mn * K + k] = how.template number<double>(x);
        } else {
          const float number = float(int(random() % 17) - 8);
          x = E(number * (1 + beside));
          numbers[mn * K + k] = how.template number<double>(E(number));
        }
      }
  }
  panel view() const { return {how, reinterpret_cast<const E*>(memory.data())}; }
};

/// What C has where nothing is written.
inline constexpr int untouched = 77;

/// C (m x n, by rows) is the product of k-tiles in its first `rows` and `cols`, and untouched beside.
template <class T, class A, class B>
void expect_product(const T* c, int m, int n, int rows, int cols, const std::vector<A>& a,
                    const std::vector<B>& b) {
  const int k = int(a[0].numbers.size()) / m;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t s = 0; s < a.size(); ++s)
        for (int e = 0; e < k; ++e) sum += a[s].numbers[i * k + e] * b[s].numbers[j * k + e];
      const T expected = i >= rows || j >= cols ? T(untouched) : T(std::int64_t(sum));
      ASSERT_EQ(c[i * n + j], expected) << "at " << i << ", " << j;
    }
}

/// An epilogue.
struct sum_itself {
  template <class T>
  T operator()(T sum, index_t, index_t, index_t) const {
    return sum;
  }
};

}  // namespace keramos::test

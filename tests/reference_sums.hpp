// All sums of a product at once, as reference::product_element gives them one by one: elements are widened once, and the loops
// are compiled once and always optimised, with sanitizers too. Most of the time that tests took went into such sums.
#pragma once

#include <type_traits>
#include <vector>

#include <keramos/gemm/reference.hpp>

namespace keramos::test {

/// sums = X·Y of row-major m x k and k x n numbers. Wide: double, long double, std::uint32_t, and complex numbers of the first two.
template <class Wide>
void multiply_widened(const Wide* x, const Wide* y, index_t m, index_t n, index_t k, Wide* sums);

template <class A, class B>
class reference_sums {
  using number = reference::wider_element<A, B>;
  using sum = reference::element_sum<number>;
  using wide = typename sum::wide;
  using real = typename sum::real;
  static constexpr bool has_sizes = !std::is_integral_v<number>;

 public:
  /// Of op(A), m x k, and op(B), k x n.
  reference_sums(const reference::operand<A>& a, const reference::operand<B>& b, index_t m, index_t n,
                 index_t k, const reference::arithmetic& how = {})
      : n_(n), k_(k), values_(std::size_t(m * n)), sizes_(has_sizes ? values_.size() : 0) {
    const widened<A> x(a, m, k, how);
    const widened<B> y(b, k, n, how);
    multiply_widened(x.values.data(), y.values.data(), m, n, k, values_.data());
    if constexpr (has_sizes) multiply_widened(x.sizes.data(), y.sizes.data(), m, n, k, sizes_.data());
  }

  sum operator()(index_t i, index_t j) const {
    const auto at = std::size_t(i * n_ + j);
    return {values_[at], has_sizes ? sizes_[at] : real(0), k_};
  }

 private:
  /// The elements as they are multiplied and as bounds count them, row-major.
  template <class E>
  struct widened {
    std::vector<wide> values;
    std::vector<real> sizes;

    widened(const reference::operand<E>& x, index_t rows, index_t cols, const reference::arithmetic& how)
        : values(std::size_t(rows * cols)), sizes(has_sizes ? values.size() : 0) {
      std::size_t at = 0;
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < cols; ++j, ++at) {
          values[at] = wide(reference::flushed(x(i, j), how));
          if constexpr (has_sizes) sizes[at] = sum::template counted<E>(values[at], how);
        }
    }
  };

  index_t n_, k_;
  std::vector<wide> values_;
  std::vector<real> sizes_;  // none of integers
};

}  // namespace keramos::test

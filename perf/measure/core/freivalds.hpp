// Freivalds' check: C x against alpha A (B x) + beta C0 x for random x costs O(m k + k n + m n).
//
// Plain vectors over all columns would let one wrong element hide in the rounding errors of a whole
// row. So the columns are cut into up to 64 blocks with a vector of their own each, which costs as
// much as 64 rows. For floats x is random signs. If each element's rounding error is at most
// b(i, j), their sum over a block of width w stays within t ||b(i, block)||_2, with t = sqrt(w) for
// certain (Cauchy and Schwarz) and with t = 8 but for a probability of 3e-14 (Hoeffding). By
// Minkowski's inequality that norm is at most
//   f(k) u (|alpha| sum_p |a(i, p)| ||b(p, block)||_2 + |beta| ||c0(i, block)||_2),
// which is one more product with A. For f(k) the k + 2 of check.hpp would again be too forgiving;
// rounding errors that are independent with mean zero stay within 9 sqrt(k + 2) but for a
// probability of 1e-6 in a 4096 cube (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019). To the
// bound comes the rounding of the check itself, in the wider type. Where elements were rounded to C's type, each is
// within u / (1 - u) of the one that came out, so t u / (1 - u) ||c(i, block)||_2 is added, with the C that is judged.
// For integers x is random odd numbers and the check is exact modulo 2^32: one wrong element in a
// block and row is always found, several except by a chance of 2^-31 each.
#pragma once

#include "element_check.hpp"
#include "random.hpp"

namespace keramos::perf {

template <class T, class C>
class freivalds_check {
  using S = sum_t<T>;
  using wide = wider_t<S>;
  static constexpr bool floats = !std::is_integral_v<T>;

 public:
  freivalds_check(const gemm_case& g, const row_major_problem<T>& problem, const C* c0, std::uint64_t seed)
      : alpha_(g.alpha),
        beta_(g.beta),
        problem_(problem),
        c0_(c0),
        width_((problem.n + most_blocks - 1) / most_blocks),
        blocks_((problem.n + width_ - 1) / width_),
        x_(problem.n) {
    const random_stream random(seed, 0xf4e1);
    for (std::int64_t j = 0; j < problem.n; ++j) {
      const auto bits = random.bits(j);
      x_[j] = floats ? (bits >> 63 ? wide(1) : wide(-1)) : static_cast<wide>((bits >> 32) | 1);
    }
  }

  worst_element operator()(const C* c) {
    if (expected_.empty()) compute_expected();
    worst_element worst;
    std::mutex lock;
    parallel_blocks(problem_.m, 16, [&](std::int64_t begin, std::int64_t end) {
      worst_element here;
      for (auto i = begin; i < end; ++i) {
        for (std::int64_t s = 0; s < blocks_; ++s) {
          const auto sum = block_sum(c + i * problem_.n, s);
          const wide difference = sum.value - expected_[i * blocks_ + s];
          double error, bound = 0;
          if constexpr (floats) {
            error = static_cast<double>(std::fabs(difference));
            bound = tolerance_[i * blocks_ + s] + rounding_of_c(sum.norm);
          } else {
            error = std::fabs(static_cast<double>(static_cast<std::int32_t>(difference)));
          }
          here.see(error, bound, i, s * width_);
        }
      }
      const std::lock_guard hold(lock);
      worst.merge(here);
    });
    return worst;
  }

 private:
  static constexpr std::int64_t most_blocks = 64;

  struct sums {
    wide value;   // of x(j) row(j) over the block
    double norm;  // of row over the block, floats only
  };
  template <class Element>
  sums block_sum(const Element* row, std::int64_t s) const {
    wide value = 0;
    double squares = 0;
    for (auto j = s * width_; j < std::min(problem_.n, (s + 1) * width_); ++j) {
      value += x_[j] * static_cast<wide>(row[j]);
      if constexpr (floats) squares += double(row[j]) * double(row[j]);
    }
    return {value, std::sqrt(squares)};
  }

  // t of the comment above.
  double spread() const { return std::min(8.0, std::sqrt(double(width_))); }

  // Of a block of C whose norm is that. Of one with an infinity or a NaN, nothing: its sum is off by no less.
  double rounding_of_c(double norm) const {
    if (std::is_same_v<S, C> || !std::isfinite(norm)) return 0;
    return spread() *
           (unit_roundoff<C> / (1 - unit_roundoff<C>)*norm + smallest_error<C> * std::sqrt(double(width_)));
  }

  void compute_expected() {
    const auto m = problem_.m, k = problem_.k;
    std::vector<wide> bx(k * blocks_);
    std::vector<double> norms(k * blocks_);
    parallel_blocks(k, 16, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = begin; p < end; ++p) {
        for (std::int64_t s = 0; s < blocks_; ++s) {
          const auto sum = block_sum(problem_.b_row(p), s);
          bx[p * blocks_ + s] = sum.value;
          norms[p * blocks_ + s] = sum.norm;
        }
      }
    });
    expected_.resize(m * blocks_);
    tolerance_.resize(m * blocks_);
    const right_hand_side<wide> right{bx.data(), norms.data(), k, blocks_};
    parallel_blocks(m, 16, [&](std::int64_t begin, std::int64_t end) {
      std::vector<const S*> a;
      for (auto i = begin; i < end; ++i) a.push_back(problem_.a_row(i));
      product_of_rows(a, right, &expected_[begin * blocks_], &tolerance_[begin * blocks_]);
      for (auto i = begin; i < end; ++i) finish_row(i);
    });
  }

  // From A (B x) and the norms to what C x must be, and how far off it may be.
  void finish_row(std::int64_t i) {
    for (std::int64_t s = 0; s < blocks_; ++s) {
      auto& expected = expected_[i * blocks_ + s];
      auto& tolerance = tolerance_[i * blocks_ + s];
      expected *= static_cast<wide>(static_cast<S>(alpha_));
      tolerance *= std::fabs(alpha_);
      if (beta_ != 0) {
        const auto sum = block_sum(c0_ + i * problem_.n, s);
        expected += static_cast<wide>(static_cast<S>(beta_)) * sum.value;
        tolerance += std::fabs(beta_) * sum.norm;
      }
      if constexpr (floats) {
        const double terms = double(problem_.k + 2);
        const double rounding = spread() * (std::min(terms, 9 * std::sqrt(terms)) * unit_roundoff<S> +
                                            problem_.how.product_rounding);
        const double own = double(problem_.k + 2 * width_ + 4) * unit_roundoff<wide> *
                           std::sqrt(double(width_));  // ||.||_1 <= sqrt(width) ||.||_2
        tolerance *= rounding + own;
      }
    }
  }

  double alpha_, beta_;
  const row_major_problem<T>& problem_;
  const C* c0_;
  std::int64_t width_;  // columns of a block
  std::int64_t blocks_;
  std::vector<wide> x_;            // [n]
  std::vector<wide> expected_;     // [m][blocks]
  std::vector<double> tolerance_;  // [m][blocks]
};

}  // namespace keramos::perf

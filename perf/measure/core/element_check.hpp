// Element by element, over all rows of C or a choice of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <type_traits>

#include "check.hpp"
#include "product_of_rows.hpp"

namespace keramos::perf {

// Keeps the worst of many comparisons; where it is gets known by index.
struct worst_element {
  double ratio = -1;
  double error = 0;
  double bound = 0;
  std::int64_t row = 0, col = 0;

  void see(double e, double b, std::int64_t i, std::int64_t j) {
    // A NaN error compares false everywhere: it must come out as the worst.
    const double r = e <= b ? (b > 0 ? e / b : 0) : std::isnan(e) || b == 0 ? HUGE_VAL : e / b;
    if (r > ratio) *this = {r, e, b, i, j};
  }
  void merge(const worst_element& other) {
    if (other.ratio > ratio) *this = other;
  }
};

// The k of the forward bound (k + 2) u sum_p |a(i, p) b(p, j)|, which holds for any data and so forgives too much of these: with
// mean zero their partial sums are about sqrt(p), not p. In units of u sum |a b| errors have
// - where each sum is rounded to nearest, a standard deviation of about 1/2, whatever k is;
// - where sums are cut off, as tensor cores do, a mean of about 1.4 sqrt(k), for all errors have one sign.
inline std::int64_t judged_terms(std::int64_t k, bool rounds_to_nearest) {
  constexpr std::int64_t enough = 64;
  return std::min(k, rounds_to_nearest ? enough : enough + std::int64_t(9 * std::sqrt(double(k))));
}

// Judges rows of a problem, of whose C's elements C is a part.
template <class T, class C>
class row_judge {
  using S = sum_t<T>;
  using number = std::conditional_t<keramos::detail::is_complex<T>, S, T>;  // the problem is real

 public:
  using wide = wider_t<S>;

  row_judge(const gemm_case& g, const row_major_problem<T>& problem, const C* c0)
      : judge_(g.alpha, g.beta, problem.how), problem_(problem), c0_(g.beta != 0 ? c0 : nullptr) {}

  // The sums of `count` rows and those of magnitudes, [count][n].
  void sum(const std::int64_t* rows, std::int64_t count, wide* value, double* magnitude) const {
    std::vector<const S*> a;
    for (std::int64_t r = 0; r < count; ++r) a.push_back(problem_.a_row(rows[r]));
    const right_hand_side<S> b{problem_.b_row(0), nullptr, problem_.k, problem_.n};
    product_of_rows(a, b, value, magnitude);
  }
  // Row i of c, beside its sums.
  void compare(std::int64_t i, const C* c, const wide* value, const double* magnitude,
               worst_element& worst) const {
    const auto n = problem_.n;
    reference::element_sum<number> sum;
    constexpr bool rounds = std::is_same_v<S, number>;
    sum.terms = judged_terms(problem_.k, rounds && problem_.how.product_rounding == 0);
    for (std::int64_t j = 0; j < n; ++j) {
      sum.value = value[j];
      if constexpr (!std::is_integral_v<T>) sum.magnitude = magnitude[j];
      const C before = c0_ ? c0_[i * n + j] : C(0);
      const auto error = judge_.error(c[i * n + j], judge_.expected(sum, before));
      worst.see(double(error), double(judge_.bound(sum, before)), i, j);
    }
  }

 private:
  reference::element_judge<number, C> judge_;
  const row_major_problem<T>& problem_;
  const C* c0_;  // null if beta is 0
};

template <class T, class C>
class element_check {
  using wide = typename row_judge<T, C>::wide;

 public:
  element_check(const gemm_case& g, const row_major_problem<T>& problem, const C* c0,
                std::vector<std::int64_t> rows)
      : judge_(g, problem, c0), problem_(problem), rows_(std::move(rows)) {}

  worst_element operator()(const C* c) {
    const auto n = problem_.n;
    const auto count = static_cast<std::int64_t>(rows_.size());
    const bool keep = count * n <= most_kept;
    const bool compute = !keep || values_.empty();
    if (keep && compute) {
      values_.resize(count * n);
      magnitudes_.resize(std::is_integral_v<T> ? 0 : count * n);
    }
    worst_element worst;
    std::mutex lock;
    parallel_blocks(count, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
      worst_element here;
      std::vector<wide> own_values;
      std::vector<double> own_magnitudes;
      for (auto r0 = begin; r0 < end; r0 += rows_at_once) {
        const auto r1 = std::min(end, r0 + rows_at_once);
        wide* value = values_.data() + r0 * n;
        double* magnitude = magnitudes_.data() + (magnitudes_.empty() ? 0 : r0 * n);
        if (!keep) {
          own_values.resize((r1 - r0) * n);
          own_magnitudes.resize((r1 - r0) * n);
          value = own_values.data();
          magnitude = own_magnitudes.data();
        }
        if (compute) judge_.sum(&rows_[r0], r1 - r0, value, magnitude);
        for (auto r = r0; r < r1; ++r) {
          judge_.compare(rows_[r], c, value + (r - r0) * n, magnitude + (r - r0) * n, here);
        }
      }
      const std::lock_guard hold(lock);
      worst.merge(here);
    });
    return worst;
  }

 private:
  static constexpr std::int64_t rows_at_once = 16;
  static constexpr std::int64_t most_kept = std::int64_t(1) << 23;  // elements of the reference

  row_judge<T, C> judge_;
  const row_major_problem<T>& problem_;
  std::vector<std::int64_t> rows_;
  std::vector<wide> values_;        // [row of rows_][n], when kept
  std::vector<double> magnitudes_;  // the same, floats only
};

}  // namespace keramos::perf

#include "batched_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "element_check.hpp"
#include "random.hpp"

namespace keramos::perf {
namespace {

// The elements in the type of their sums: themselves, or a copy.
template <class T>
class as_sums {
 public:
  as_sums(const T* x, std::int64_t count) {
    if constexpr (std::is_same_v<T, sum_t<T>>)
      data_ = x;
    else
      copy_.assign(x, x + count), data_ = copy_.data();
  }
  as_sums(const as_sums&) = delete;
  as_sums& operator=(const as_sums&) = delete;

  sum_t<T> operator[](std::int64_t i) const { return data_[i]; }

 private:
  std::vector<sum_t<T>> copy_;
  const sum_t<T>* data_ = nullptr;
};

template <class T, class C>
class batched_check : public gemm_check {
  using S = sum_t<T>;
  using wide = wider_t<S>;

 public:
  batched_check(const gemm_case& g, const void* a, const void* b, const void* c0, std::uint64_t seed,
                double limit)
      : case_(g),
        a_(static_cast<const T*>(a)),
        b_(static_cast<const T*>(b)),
        c0_(static_cast<const C*>(c0)),
        seed_(seed) {
    const double each = double(g.m) * double(g.n) * double(g.k);
    whole_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(limit / std::max(each, 1.0)), 2, g.batch);
  }

  verdict operator()(const void* c) override {
    worst_element worst;
    std::int64_t worst_matrix = 0;
    bool worst_is_sum = false;
    std::mutex lock;
    parallel_blocks(case_.batch, 8, [&](std::int64_t begin, std::int64_t end) {
      for (auto l = begin; l < end; ++l) {
        const bool every_element = is_whole(l);
        const auto here =
            every_element ? elements(l, static_cast<const C*>(c)) : signed_sums(l, static_cast<const C*>(c));
        const std::lock_guard hold(lock);
        if (here.ratio > worst.ratio) worst = here, worst_matrix = l, worst_is_sum = !every_element;
      }
    });
    verdict v{!(worst.ratio > 1), worst.error, worst.bound, {}};
    if (!v.passed) {
      v.where = fmt::format("{} ({}, {}) of matrix {}", worst_is_sum ? "a sum of elements from" : "element",
                            worst.row, worst.col, worst_matrix);
    }
    return v;
  }

 private:
  // `whole_` of the batch, evenly spread: those where l * whole_ / batch moves on, and the last.
  bool is_whole(std::int64_t l) const {
    return l == 0 || l == case_.batch - 1 || l * whole_ / case_.batch != (l - 1) * whole_ / case_.batch;
  }

  as_sums<T> a(std::int64_t l) const { return {a_ + l * case_.m * case_.k, case_.m * case_.k}; }
  as_sums<T> b(std::int64_t l) const { return {b_ + l * case_.k * case_.n, case_.k * case_.n}; }
  std::int64_t at_c(std::int64_t l) const { return l * case_.m * case_.n; }
  double scale() const { return double(case_.k + 2) * unit_roundoff<S>; }

  worst_element elements(std::int64_t l, const C* c) const {
    const auto& g = case_;
    const auto sa = strides_of_op_a(g), sb = strides_of_op_b(g), sc = strides_of_c(g);
    const auto al = a(l), bl = b(l);
    const wide alpha = static_cast<wide>(static_cast<S>(g.alpha));
    const wide beta = static_cast<wide>(static_cast<S>(g.beta));
    worst_element worst;
    std::vector<wide> sums(g.n);
    std::vector<double> magnitudes(g.n);
    for (std::int64_t i = 0; i < g.m; ++i) {
      std::fill(sums.begin(), sums.end(), wide(0));
      std::fill(magnitudes.begin(), magnitudes.end(), 0.0);
      for (std::int64_t p = 0; p < g.k; ++p) {
        const wide factor = static_cast<wide>(al[i * sa.row + p * sa.col]);
        for (std::int64_t j = 0; j < g.n; ++j) {
          const wide product = factor * static_cast<wide>(bl[p * sb.row + j * sb.col]);
          sums[j] += product;
          if constexpr (!std::is_integral_v<T>) magnitudes[j] += double(std::fabs(product));
        }
      }
      for (std::int64_t j = 0; j < g.n; ++j) {
        const auto at = at_c(l) + i * sc.row + j * sc.col;
        wide exact = alpha * sums[j];
        double bound = std::fabs(g.alpha) * magnitudes[j];
        if (g.beta != 0) {
          exact += beta * static_cast<wide>(c0_[at]);
          bound += std::fabs(g.beta * double(c0_[at]));
        }
        bound *= scale();
        if constexpr (!std::is_integral_v<T>) bound += rounding_to_c<S, C>(double(std::fabs(exact)) + bound);
        worst.see(distance(c[at], exact), bound, i, j);
      }
    }
    return worst;
  }

  // |sum_j x_j (computed - exact)(i, j)| for signs x, against the sum of the row's bounds.
  worst_element signed_sums(std::int64_t l, const C* c) const {
    const auto& g = case_;
    const auto sa = strides_of_op_a(g), sb = strides_of_op_b(g), sc = strides_of_c(g);
    const auto al = a(l), bl = b(l);
    const random_stream random(seed_, 0x6261 + std::uint64_t(l));
    const auto sign = [&](std::int64_t j) { return random.bits(j) & 1 ? wide(1) : wide(0) - wide(1); };
    std::vector<wide> x(g.n), bx(g.k, wide(0));
    std::vector<double> b_sizes(g.k, 0.0);
    for (std::int64_t j = 0; j < g.n; ++j) x[j] = sign(j);
    for (std::int64_t p = 0; p < g.k; ++p) {
      for (std::int64_t j = 0; j < g.n; ++j) {
        const S value = bl[p * sb.row + j * sb.col];
        bx[p] += static_cast<wide>(value) * x[j];
        b_sizes[p] += std::fabs(double(value));
      }
    }
    worst_element worst;
    for (std::int64_t i = 0; i < g.m; ++i) {
      wide exact = 0, got = 0;
      double bound = 0, rounding = 0;
      for (std::int64_t p = 0; p < g.k; ++p) {
        const S value = al[i * sa.row + p * sa.col];
        exact += static_cast<wide>(value) * bx[p];
        bound += std::fabs(double(value)) * b_sizes[p];
      }
      exact *= static_cast<wide>(static_cast<S>(g.alpha));
      bound *= std::fabs(g.alpha);
      for (std::int64_t j = 0; j < g.n; ++j) {
        const auto at = at_c(l) + i * sc.row + j * sc.col;
        got += static_cast<wide>(c[at]) * x[j];
        if constexpr (!std::is_same_v<S, C>) {
          // The sum that was rounded is as near to what came out. What is not finite is off by no less.
          const double size = std::fabs(double(c[at]));
          if (std::isfinite(size)) rounding += rounding_to_c<S, C>(size / (1 - unit_roundoff<C>));
        }
        if (g.beta == 0) continue;
        exact += static_cast<wide>(static_cast<S>(g.beta)) * static_cast<wide>(c0_[at]) * x[j];
        bound += std::fabs(g.beta * double(c0_[at]));
      }
      if constexpr (!std::is_integral_v<T>) {
        worst.see(double(std::fabs(got - exact)), bound * scale() + rounding, i, 0);
      } else {
        worst.see(std::fabs(double(static_cast<std::int32_t>(got - exact))), 0, i, 0);
      }
    }
    return worst;
  }

  gemm_case case_;
  const T *a_, *b_;
  const C* c0_;
  std::uint64_t seed_;
  std::int64_t whole_;  // matrices of which every element is judged
};

}  // namespace

std::unique_ptr<gemm_check> make_batched_check(const gemm_case& g, const void* a, const void* b,
                                               const void* c0, std::uint64_t seed, double limit) {
  return visit_type(g.type, [&](auto types) -> std::unique_ptr<gemm_check> {
    using of = decltype(types);
    return std::make_unique<batched_check<typename of::ab, typename of::c>>(g, a, b, c0, seed, limit);
  });
}

}  // namespace keramos::perf

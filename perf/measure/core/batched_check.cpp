#include "batched_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <numeric>

#include "element_check.hpp"
#include "quantized_check.hpp"
#include "random.hpp"
#include "visit_type.hpp"

namespace keramos::perf {
namespace {

// C: of its elements, or of complex ones' parts.
template <class A, class B, class C>
class batched_check : public gemm_check {
  using T = reference::wider_element<A, B>;
  using S = sum_t<T>;
  using wide = wider_t<S>;
  using problem = row_major_problem<T>;

 public:
  batched_check(const gemm_case& g, const void* a, const void* b, const void* c0, std::uint64_t seed,
                bool on_host, double limit)
      : case_(g),
        a_(static_cast<const A*>(a)),
        b_(static_cast<const B*>(b)),
        c0_(static_cast<const C*>(c0)),
        seed_(seed),
        on_host_(on_host) {
    const double each = g.operations() / 2 / double(g.batch);
    whole_ = std::clamp<std::int64_t>(static_cast<std::int64_t>(limit / std::max(each, 1.0)), 2, g.batch);
  }

  verdict operator()(const void* c) override {
    worst_element worst;
    std::string where;
    std::mutex lock;
    parallel_blocks(case_.batch, 8, [&](std::int64_t begin, std::int64_t end) {
      for (auto l = begin; l < end; ++l) {
        const bool every_element = is_whole(l);
        const problem p(case_, a_ + l * case_.m * case_.k, b_ + l * case_.k * case_.n, on_host_);
        const auto from = l * p.m * p.n;
        const C* const cl = static_cast<const C*>(c) + from;
        const C* const c0l = case_.beta != 0 ? c0_ + from : nullptr;
        const auto here = every_element ? elements(p, cl, c0l) : signed_sums(p, cl, c0l, l);
        const std::lock_guard hold(lock);
        if (here.ratio <= worst.ratio) continue;
        worst = here;
        const auto at = p.in_c(here.row, here.col);
        where = fmt::format("{} ({}, {}) of matrix {}", every_element ? "element" : "a sum of elements from",
                            at.row, at.col, l);
      }
    });
    verdict v{!(worst.ratio > 1), worst.error, worst.bound, {}};
    if (!v.passed) v.where = where;
    return v;
  }

 private:
  // `whole_` of the batch, evenly spread: those where l * whole_ / batch moves on, and the last.
  bool is_whole(std::int64_t l) const {
    return l == 0 || l == case_.batch - 1 || l * whole_ / case_.batch != (l - 1) * whole_ / case_.batch;
  }

  worst_element elements(const problem& p, const C* c, const C* c0) const {
    constexpr std::int64_t rows_at_once = 16;
    const row_judge<T, C> judge(case_, p, c0);
    worst_element worst;
    std::vector<std::int64_t> rows(p.m);
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<wide> sums(rows_at_once * p.n);
    std::vector<double> magnitudes(rows_at_once * p.n);
    for (std::int64_t i0 = 0; i0 < p.m; i0 += rows_at_once) {
      const auto count = std::min(rows_at_once, p.m - i0);
      judge.sum(&rows[i0], count, sums.data(), magnitudes.data());
      for (std::int64_t r = 0; r < count; ++r)
        judge.compare(i0 + r, c, &sums[r * p.n], &magnitudes[r * p.n], worst);
    }
    return worst;
  }

  // |sum_j x_j (computed - exact)(i, j)| for signs x, against the sum of the row's bounds; of matrix l.
  worst_element signed_sums(const problem& p, const C* c, const C* c0, std::int64_t l) const {
    const random_stream random(seed_, 0x6261 + std::uint64_t(l));
    const auto sign = [&](std::int64_t j) { return random.bits(j) & 1 ? wide(1) : wide(0) - wide(1); };
    std::vector<wide> x(p.n), bx(p.k, wide(0));
    std::vector<double> b_sizes(p.k, 0.0);
    for (std::int64_t j = 0; j < p.n; ++j) x[j] = sign(j);
    for (std::int64_t q = 0; q < p.k; ++q) {
      for (std::int64_t j = 0; j < p.n; ++j) {
        const S value = p.b_row(q)[j];
        bx[q] += static_cast<wide>(value) * x[j];
        b_sizes[q] += std::fabs(double(value));
      }
    }
    worst_element worst;
    for (std::int64_t i = 0; i < p.m; ++i) {
      wide exact = 0, got = 0;
      double bound = 0, rounding = 0;
      for (std::int64_t q = 0; q < p.k; ++q) {
        const S value = p.a_row(i)[q];
        exact += static_cast<wide>(value) * bx[q];
        bound += std::fabs(double(value)) * b_sizes[q];
      }
      exact *= static_cast<wide>(static_cast<S>(case_.alpha));
      bound *= std::fabs(case_.alpha);
      for (std::int64_t j = 0; j < p.n; ++j) {
        const auto at = i * p.n + j;
        got += static_cast<wide>(c[at]) * x[j];
        if constexpr (!std::is_same_v<S, C>) {
          // The sum that was rounded is as near to what came out. What is not finite is off by no less.
          const double size = std::fabs(double(c[at]));
          if (std::isfinite(size)) rounding += reference::rounding_to_c<S, C>(size / (1 - unit_roundoff<C>));
        }
        if (case_.beta == 0) continue;
        exact += static_cast<wide>(static_cast<S>(case_.beta)) * static_cast<wide>(c0[at]) * x[j];
        bound += std::fabs(case_.beta * double(c0[at]));
      }
      if constexpr (!std::is_integral_v<T>) {
        const double relative = double(p.k + 2) * unit_roundoff<S> + p.how.product_rounding;
        worst.see(double(std::fabs(got - exact)), bound * relative + rounding, i, 0);
      } else {
        worst.see(std::fabs(double(static_cast<std::int32_t>(got - exact))), 0, i, 0);
      }
    }
    return worst;
  }

  gemm_case case_;
  const A* a_;
  const B* b_;
  const C* c0_;
  std::uint64_t seed_;
  bool on_host_;
  std::int64_t whole_;  // matrices of which every element is judged
};

}  // namespace

std::unique_ptr<gemm_check> make_batched_check(const gemm_case& g, const void* a, const void* b,
                                               const void* c0, std::uint64_t seed, bool on_host,
                                               double limit) {
  return visit_type(g.type, [&](auto types) -> std::unique_ptr<gemm_check> {
    using of = decltype(types);
    using part = typename keramos::detail::part_of<typename of::c>::type;
    if constexpr (std::is_same_v<part, std::int8_t>)
      return make_quantized_check(g, a, b, c0, seed);
    else
      return std::make_unique<batched_check<typename of::a, typename of::b, part>>(g, a, b, c0, seed, on_host,
                                                                                   limit);
  });
}

}  // namespace keramos::perf

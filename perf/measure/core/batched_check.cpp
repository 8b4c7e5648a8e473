#include "batched_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

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
        places_(g),
        limit_(limit),
        a_(static_cast<const A*>(a)),
        b_(static_cast<const B*>(b)),
        c0_(static_cast<const C*>(c0)),
        seed_(seed),
        on_host_(on_host) {
    const double each = g.operations() / 2 / double(g.batch);
    whole_ =
        std::min(g.batch, std::max<std::int64_t>(2, static_cast<std::int64_t>(limit / std::max(each, 1.0))));
  }

  verdict operator()(const void* c) override {
    worst_element worst;
    std::string where;
    std::mutex lock;
    const std::int64_t at_once = case_.form == batch_form::grouped ? 1 : 8;
    parallel_blocks(case_.batch, at_once, [&](std::int64_t begin, std::int64_t end) {
      for (auto l = begin; l < end; ++l) {
        const auto place = places_[l];
        if (place.extents.m == 0) continue;
        const problem p(one_of(case_, place.extents), a_ + place.a, b_ + place.b, on_host_);
        const auto from = problem::parts * place.c;
        const C* const cl = static_cast<const C*>(c) + from;
        const C* const c0l = case_.beta != 0 ? c0_ + from : nullptr;
        const auto see = [&](const worst_element& here, const char* what) {
          const std::lock_guard hold(lock);
          if (here.ratio <= worst.ratio) return;
          worst = here;
          const auto at = p.in_c(here.row, here.col);
          where = fmt::format("{} ({}, {}) of matrix {}", what, at.row, at.col, l);
        };
        const auto rows = rows_of(p, l);
        if (!rows.empty()) see(elements(p, cl, c0l, rows), "element");
        if (std::int64_t(rows.size()) < p.m) see(signed_sums(p, cl, c0l, l), "a sum of elements from");
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

  // Those of matrix l whose every element is judged.
  std::vector<std::int64_t> rows_of(const problem& p, std::int64_t l) const {
    std::int64_t count = p.m;
    if (case_.form == batch_form::grouped)
      count = std::min(
          p.m, std::max<std::int64_t>(2, std::int64_t(limit_ / double(case_.batch) / double(p.n * p.k))));
    else if (!is_whole(l))
      return {};
    std::vector<std::int64_t> rows(std::size_t(count), 0);
    for (std::int64_t r = 1; r < count; ++r) rows[std::size_t(r)] = r * (p.m - 1) / (count - 1);
    return rows;
  }

  worst_element elements(const problem& p, const C* c, const C* c0,
                         const std::vector<std::int64_t>& rows) const {
    constexpr std::int64_t rows_at_once = 16;
    const row_judge<T, C> judge(case_, p, c0);
    worst_element worst;
    const auto count_of_rows = std::int64_t(rows.size());
    std::vector<wide> sums(rows_at_once * p.n);
    std::vector<double> magnitudes(rows_at_once * p.n);
    for (std::int64_t r0 = 0; r0 < count_of_rows; r0 += rows_at_once) {
      const auto count = std::min(rows_at_once, count_of_rows - r0);
      judge.sum(&rows[r0], count, sums.data(), magnitudes.data());
      for (std::int64_t r = 0; r < count; ++r)
        judge.compare(rows[r0 + r], c, &sums[r * p.n], &magnitudes[r * p.n], worst);
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
  placed_problems places_;
  double limit_;
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

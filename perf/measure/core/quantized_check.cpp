#include "quantized_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "element_check.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace keramos::perf {
namespace {

using i8 = std::int8_t;

class quantized_check : public gemm_check {
 public:
  quantized_check(const gemm_case& g, const void* a, const void* b, const void* c0, std::uint64_t seed,
                  double limit)
      : case_(g),
        places_(g),
        a_(static_cast<const i8*>(a)),
        b_(static_cast<const i8*>(b)),
        c0_(static_cast<const i8*>(c0)),
        seed_(seed) {
    double of_a_row = 0;
    for (std::int64_t l = 0; l < places_.size(); ++l)
      of_a_row += double(places_[l].extents.n) * double(places_[l].extents.k);
    const std::int64_t least = std::max<std::int64_t>(64 / g.products(), 1);
    rows_ = std::max(std::int64_t(limit / std::max(of_a_row, 1.0)), least);
  }

  verdict operator()(const void* c) override {
    worst_element worst;
    std::int64_t worst_matrix = 0;
    for (std::int64_t l = 0; l < places_.size(); ++l) {
      const auto here = judge_matrix(static_cast<const i8*>(c), l);
      if (here.ratio > worst.ratio) worst = here, worst_matrix = l;
    }
    verdict v{!(worst.ratio > 1), worst.error, worst.bound, {}};
    if (!v.passed) {
      v.where = fmt::format("element ({}, {})", worst.row, worst.col);
      if (case_.batch > 0) v.where += fmt::format(" of matrix {}", worst_matrix);
    }
    return v;
  }

 private:
  // Of m rows, one of each of so many stripes; the first and the last row always, where edges are handled.
  std::int64_t row_of_stripe(std::int64_t stripe, std::int64_t stripes, std::int64_t m,
                             std::int64_t matrix) const {
    const auto begin = stripe * m / stripes, end = (stripe + 1) * m / stripes;
    if (stripe == 0 || stripe == stripes - 1) return stripe == 0 ? begin : end - 1;
    const auto bits = random_stream(seed_, 0x7138 + std::uint64_t(matrix)).bits(std::uint64_t(stripe));
    return begin + std::int64_t(bits % std::uint64_t(end - begin));
  }

  // op(B), row-major.
  static std::vector<i8> rows_of_b(const gemm_case& g, const i8* b) {
    const auto at = strides_of_op_b(g);
    std::vector<i8> rows(std::size_t(g.k * g.n));
    parallel_blocks(g.k, 256, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = begin; p < end; ++p)
        for (std::int64_t j = 0; j < g.n; ++j) rows[p * g.n + j] = b[p * at.row + j * at.col];
    });
    return rows;
  }

  // c: of the first matrix.
  worst_element judge_matrix(const i8* c, std::int64_t matrix) const {
    const auto place = places_[matrix];
    const auto g = one_of(case_, place.extents);
    const auto b = rows_of_b(g, b_ + place.b);
    const auto at_a = strides_of_op_a(g), at_c = strides_of_c(g);
    const i8* const a = a_ + place.a;
    const i8* const c0 = g.beta != 0 ? c0_ + place.c : nullptr;
    const auto rows = std::min(g.m, rows_);
    c += place.c;
    worst_element worst;
    std::mutex lock;
    parallel_blocks(rows, 1, [&](std::int64_t begin, std::int64_t end) {
      worst_element here;
      std::vector<std::uint32_t> sums(std::size_t(g.n));
      for (auto r = begin; r < end; ++r) {
        const auto i = row_of_stripe(r, rows, g.m, matrix);
        std::fill(sums.begin(), sums.end(), 0u);
        for (std::int64_t p = 0; p < g.k; ++p) {
          const int factor = a[i * at_a.row + p * at_a.col];
          const i8* const row = &b[p * g.n];
          for (std::int64_t j = 0; j < g.n; ++j) sums[j] += std::uint32_t(factor * int(row[j]));
        }
        for (std::int64_t j = 0; j < g.n; ++j) {
          const auto at = i * at_c.row + j * at_c.col;
          judge(c[at], std::int32_t(sums[j]), c0 != nullptr ? c0[at] : i8(0), i, j, here);
        }
      }
      const std::lock_guard hold(lock);
      worst.merge(here);
    });
    return worst;
  }

  void judge(i8 got, std::int32_t sum, i8 before, std::int64_t i, std::int64_t j,
             worst_element& worst) const {
    const double of_sum = alpha_of_sums(case_) * double(sum),
                 of_c = double(float(case_.beta)) * double(before);
    const double expected = std::clamp(of_sum + of_c, -128.0, 127.0);
    const double bound = 0.5 + 4 * unit_roundoff<float> * (std::fabs(of_sum) + std::fabs(of_c));
    worst.see(std::fabs(double(got) - expected), bound, i, j);
  }

  gemm_case case_;
  placed_problems places_;
  const i8 *a_, *b_, *c0_;
  std::uint64_t seed_;
  std::int64_t rows_;  // of each matrix that has more
};

}  // namespace

std::unique_ptr<gemm_check> make_quantized_check(const gemm_case& g, const void* a, const void* b,
                                                 const void* c0, std::uint64_t seed, double limit) {
  return std::make_unique<quantized_check>(g, a, b, c0, seed, limit);
}

}  // namespace keramos::perf

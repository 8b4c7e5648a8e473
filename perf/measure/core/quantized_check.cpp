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
        a_(static_cast<const i8*>(a)),
        b_(static_cast<const i8*>(b)),
        c0_(static_cast<const i8*>(c0)),
        seed_(seed) {
    const double of_a_row = double(g.n) * double(g.k) * double(g.products());
    const std::int64_t least = std::max<std::int64_t>(64 / g.products(), 1);
    rows_ = std::min(g.m, std::max(std::int64_t(limit / std::max(of_a_row, 1.0)), least));
  }

  verdict operator()(const void* c) override {
    worst_element worst;
    std::int64_t worst_matrix = 0;
    for (std::int64_t l = 0; l < case_.products(); ++l) {
      const auto here = judge_matrix(static_cast<const i8*>(c) + l * case_.m * case_.n, l);
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
  // One of each of rows_ stripes; the first and the last row always, where edges are handled.
  std::int64_t row_of_stripe(std::int64_t stripe, std::int64_t matrix) const {
    const auto begin = stripe * case_.m / rows_, end = (stripe + 1) * case_.m / rows_;
    if (stripe == 0 || stripe == rows_ - 1) return stripe == 0 ? begin : end - 1;
    const auto bits = random_stream(seed_, 0x7138 + std::uint64_t(matrix)).bits(std::uint64_t(stripe));
    return begin + std::int64_t(bits % std::uint64_t(end - begin));
  }

  // op(B), row-major.
  std::vector<i8> rows_of_b(std::int64_t matrix) const {
    const auto at = strides_of_op_b(case_);
    const i8* const b = b_ + matrix * case_.k * case_.n;
    std::vector<i8> rows(std::size_t(case_.k * case_.n));
    parallel_blocks(case_.k, 256, [&](std::int64_t begin, std::int64_t end) {
      for (auto p = begin; p < end; ++p)
        for (std::int64_t j = 0; j < case_.n; ++j) rows[p * case_.n + j] = b[p * at.row + j * at.col];
    });
    return rows;
  }

  worst_element judge_matrix(const i8* c, std::int64_t matrix) const {
    const auto b = rows_of_b(matrix);
    const auto at_a = strides_of_op_a(case_), at_c = strides_of_c(case_);
    const i8* const a = a_ + matrix * case_.m * case_.k;
    const i8* const c0 = case_.beta != 0 ? c0_ + matrix * case_.m * case_.n : nullptr;
    worst_element worst;
    std::mutex lock;
    parallel_blocks(rows_, 1, [&](std::int64_t begin, std::int64_t end) {
      worst_element here;
      std::vector<std::uint32_t> sums(std::size_t(case_.n));
      for (auto r = begin; r < end; ++r) {
        const auto i = row_of_stripe(r, matrix);
        std::fill(sums.begin(), sums.end(), 0u);
        for (std::int64_t p = 0; p < case_.k; ++p) {
          const int factor = a[i * at_a.row + p * at_a.col];
          const i8* const row = &b[p * case_.n];
          for (std::int64_t j = 0; j < case_.n; ++j) sums[j] += std::uint32_t(factor * int(row[j]));
        }
        for (std::int64_t j = 0; j < case_.n; ++j) {
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
  const i8 *a_, *b_, *c0_;
  std::uint64_t seed_;
  std::int64_t rows_;  // of each matrix that are judged
};

}  // namespace

std::unique_ptr<gemm_check> make_quantized_check(const gemm_case& g, const void* a, const void* b,
                                                 const void* c0, std::uint64_t seed, double limit) {
  return std::make_unique<quantized_check>(g, a, b, c0, seed, limit);
}

}  // namespace keramos::perf

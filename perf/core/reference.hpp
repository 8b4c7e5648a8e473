// The reference product that results are judged by: plain loops in a wider type, over rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "error_bound.hpp"
#include "parallel.hpp"
#include "problem.hpp"

namespace keramos::perf {

// A problem turned so that C is row-major: in a column-major one C^T = op(B)^T op(A)^T is, and
// rows then stand for columns. op(A) and op(B) are copied where they are not row-major or not of the
// type of sums, S, yet.
template <class T>
class row_major_problem {
 public:
  using S = sum_t<T>;

  row_major_problem(const gemm_case& g, const void* a, const void* b)
      : m(g.m), n(g.n), k(g.k), transposed(g.layout == matrix_layout::left) {
    auto sa = strides_of_op_a(g);
    auto sb = strides_of_op_b(g);
    if (transposed) {
      std::swap(m, n);
      std::swap(a, b);
      std::swap(sa, sb);
      std::swap(sa.row, sa.col);
      std::swap(sb.row, sb.col);
    }
    a_ = row_major(static_cast<const T*>(a), sa, m, k, a_copy_);
    b_ = row_major(static_cast<const T*>(b), sb, k, n, b_copy_);
  }

  const S* a_row(std::int64_t i) const { return a_ + i * k; }  // [k]
  const S* b_row(std::int64_t p) const { return b_ + p * n; }  // [n]

  std::int64_t m, n, k;
  bool transposed;

 private:
  static const S* row_major(const T* x, strides s, std::int64_t rows, std::int64_t cols,
                            std::vector<S>& copy) {
    if constexpr (std::is_same_v<T, S>) {
      if (s.col == 1 && (s.row == cols || rows == 1)) return x;
    }
    copy.resize(rows * cols);
    constexpr std::int64_t tile = 32;
    parallel_blocks(rows, tile, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j0 = 0; j0 < cols; j0 += tile) {
        for (auto i = begin; i < end; ++i) {
          for (auto j = j0; j < std::min(cols, j0 + tile); ++j) {
            copy[i * cols + j] = x[i * s.row + j * s.col];
          }
        }
      }
    });
    return copy.data();
  }

  const S* a_;
  const S* b_;
  std::vector<S> a_copy_, b_copy_;
};

// The right-hand matrix of a product of rows: B itself with |B| for magnitudes, or (in Freivalds'
// check) B times vectors, with magnitudes of their own.
template <class E>
struct right_hand_side {
  const E* values;           // [k][n]
  const double* magnitudes;  // [k][n], or nullptr: the absolute values
  std::int64_t k, n;

  double magnitude(std::int64_t at) const {
    return magnitudes ? magnitudes[at] : double(std::fabs(values[at]));
  }
};

namespace detail {

// Sums stay in memory that fits the first-level cache, and the inner loop vectorises.
template <class Wide, class T, class E>
void stream_rows(const std::vector<const T*>& a, const right_hand_side<E>& b, Wide* value,
                 double* magnitude) {
  constexpr std::int64_t width = 512;
  for (std::int64_t j0 = 0; j0 < b.n; j0 += width) {
    const auto cols = std::min(width, b.n - j0);
    for (std::size_t r0 = 0; r0 < a.size(); r0 += 4) {
      const auto r1 = std::min(a.size(), r0 + 4);
      for (std::int64_t p = 0; p < b.k; ++p) {
        const E* const row = b.values + p * b.n + j0;
        for (auto r = r0; r < r1; ++r) {
          const Wide factor = static_cast<Wide>(a[r][p]);
          Wide* const sum = value + r * b.n + j0;
          for (std::int64_t j = 0; j < cols; ++j) sum[j] += factor * static_cast<Wide>(row[j]);
          if constexpr (std::is_floating_point_v<Wide>) {
            const double size = std::fabs(factor);
            double* const total = magnitude + r * b.n + j0;
            if (b.magnitudes) {
              const double* const sizes = b.magnitudes + p * b.n + j0;
              for (std::int64_t j = 0; j < cols; ++j) total[j] += size * sizes[j];
            } else {
              for (std::int64_t j = 0; j < cols; ++j) total[j] += size * std::fabs(row[j]);
            }
          }
        }
      }
    }
  }
}

// Sums stay in registers: long double is scalar everywhere, and slow to load and store on x86.
template <class Wide, class T, class E>
void accumulate_rows(const std::vector<const T*>& a, const right_hand_side<E>& b, Wide* value,
                     double* magnitude) {
  constexpr int width = 4;
  std::vector<E> panel(b.k * width);  // columns side by side: whole rows are far apart
  std::vector<double> sizes(b.k * width);
  for (std::int64_t j0 = 0; j0 < b.n; j0 += width) {
    const auto cols = std::min<std::int64_t>(width, b.n - j0);
    for (std::int64_t p = 0; p < b.k; ++p) {
      for (std::int64_t j = 0; j < cols; ++j) {
        panel[p * width + j] = b.values[p * b.n + j0 + j];
        sizes[p * width + j] = b.magnitude(p * b.n + j0 + j);
      }
    }
    for (std::size_t r = 0; r < a.size(); ++r) {
      Wide v0 = 0, v1 = 0, v2 = 0, v3 = 0;
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
      for (std::int64_t p = 0; p < b.k; ++p) {
        const Wide factor = a[r][p];
        const double size = std::fabs(a[r][p]);
        const E* const row = &panel[p * width];
        const double* const row_sizes = &sizes[p * width];
        v0 += factor * row[0], s0 += size * row_sizes[0];
        v1 += factor * row[1], s1 += size * row_sizes[1];
        v2 += factor * row[2], s2 += size * row_sizes[2];
        v3 += factor * row[3], s3 += size * row_sizes[3];
      }
      const Wide v[width] = {v0, v1, v2, v3};
      const double s[width] = {s0, s1, s2, s3};
      std::copy_n(v, cols, value + r * b.n + j0);
      std::copy_n(s, cols, magnitude + r * b.n + j0);
    }
  }
}

}  // namespace detail

// value[r][j] = sum over p of a[r][p] * b(p, j); magnitude the same of absolute values (floats).
template <class Wide, class T, class E>
void product_of_rows(const std::vector<const T*>& a, const right_hand_side<E>& b, Wide* value,
                     double* magnitude) {
  if constexpr (std::is_same_v<Wide, long double>) {
    detail::accumulate_rows(a, b, value, magnitude);
  } else {
    std::fill_n(value, a.size() * b.n, Wide(0));
    std::fill_n(magnitude, std::is_floating_point_v<Wide> ? a.size() * b.n : 0, 0.0);
    detail::stream_rows(a, b, value, magnitude);
  }
}

}  // namespace keramos::perf

// The reference product of keramos/gemm/reference.hpp for many elements at once: loops over rows that vectorise.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <keramos/gemm/reference.hpp>
#include <type_traits>
#include <vector>

#include "parallel.hpp"
#include "problem.hpp"

namespace keramos::perf {

using reference::smallest_error, reference::sum_t, reference::unit_roundoff, reference::wider_t;

// A problem turned so that C is row-major: in a column-major one C^T = op(B)^T op(A)^T is, and
// rows then stand for columns. op(A) and op(B) are copied where they are not row-major or not of the
// type of sums, S, yet.
//
// Complex ones become real: C as it lies in memory, with the real and the imaginary part of each element side by side,
// is the real product of op(A), which lies so too, and of op(B) with 2 x 2 elements, re im over -im re, for each of its
// own. Its bounds hold for both parts, whose sums have twice as many terms.
// T: of elements of A and B the wider or complex ones; the others are converted to it.
template <class T>
class row_major_problem {
 public:
  using S = sum_t<T>;
  static constexpr int parts = keramos::detail::is_complex<T> ? 2 : 1;  // of an element

  // `on_host`: where the product was computed.
  template <class A, class B>
  row_major_problem(const gemm_case& g, const A* a, const B* b, bool on_host)
      : m(g.m),
        n(parts * g.n),
        k(parts * g.k),
        transposed(g.layout == matrix_layout::left),
        how(reference::arithmetic_of(g.type == data_type::tf32 ? scalar_type::tf32
                                     : g.type == data_type::f32_emulated
                                         ? scalar_type::tf32x3
                                         : keramos::detail::scalar_type_of<T>::value,
                                     on_host)) {
    const auto of_a = strides_of_op_a(g), of_b = strides_of_op_b(g);
    const operand<A> x{{a, of_a.row, of_a.col, g.op_a == transpose::C}, g.m, g.k};
    const operand<B> y{{b, of_b.row, of_b.col, g.op_b == transpose::C}, g.k, g.n};
    if (transposed) {
      m = g.n, n = parts * g.m;
      lay_out(y.transposed(), x.transposed());
    } else {
      lay_out(x, y);
    }
  }

  const S* a_row(std::int64_t i) const { return a_ + i * k; }  // [k]
  const S* b_row(std::int64_t p) const { return b_ + p * n; }  // [n]

  // The element of the caller's C that (i, j) is, or is a part of.
  struct position {
    std::int64_t row, col;
  };
  position in_c(std::int64_t i, std::int64_t j) const {
    j /= parts;
    return transposed ? position{j, i} : position{i, j};
  }

  std::int64_t m, n, k;  // of the real product
  bool transposed;
  reference::arithmetic how;

 private:
  // op of a matrix, rows x cols.
  template <class E>
  struct operand : reference::operand<E> {
    std::int64_t rows, cols;

    operand transposed() const {
      return {{this->data, this->col_stride, this->row_stride, this->conjugated}, cols, rows};
    }
  };

  template <class Left, class Right>
  void lay_out(const operand<Left>& x, const operand<Right>& y) {
    a_ = row_major(x, a_copy_);
    if constexpr (parts == 1)
      b_ = row_major(y, b_copy_);
    else
      b_ = real_form(y, b_copy_);
  }

  // f(i, j) for all elements, in tiles.
  template <class E, class F>
  static void for_elements(const operand<E>& x, const F& f) {
    constexpr std::int64_t tile = 32, worth_a_thread = 1 << 16;
    const auto rows_at_once = std::max(tile, worth_a_thread / x.cols);
    parallel_blocks(x.rows, rows_at_once, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t j0 = 0; j0 < x.cols; j0 += tile) {
        for (auto i = begin; i < end; ++i) {
          for (auto j = j0; j < std::min(x.cols, j0 + tile); ++j) f(i, j);
        }
      }
    });
  }

  template <class E>
  static const S* row_major(const operand<E>& x, std::vector<S>& copy) {
    if constexpr (std::is_same_v<E, T> && (std::is_same_v<T, S> || parts == 2)) {
      const bool conjugated = parts == 2 && x.conjugated;
      if (!conjugated && x.col_stride == 1 && (x.row_stride == x.cols || x.rows == 1))
        return reinterpret_cast<const S*>(x.data);
    }
    copy.resize(x.rows * x.cols * parts);
    for_elements(x, [&](std::int64_t i, std::int64_t j) {
      S* const to = &copy[(i * x.cols + j) * parts];
      const T value = T(x(i, j));
      if constexpr (parts == 2)
        to[0] = value.re, to[1] = value.im;
      else
        *to = value;
    });
    return copy.data();
  }

  template <class E>
  static const S* real_form(const operand<E>& x, std::vector<S>& copy) {
    const std::int64_t row = 2 * x.cols;
    copy.resize(2 * x.rows * row);
    for_elements(x, [&](std::int64_t i, std::int64_t j) {
      S* const to = &copy[2 * i * row + 2 * j];
      const T value = T(x(i, j));
      to[0] = value.re, to[1] = value.im;
      to[row] = -value.im, to[row + 1] = value.re;
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

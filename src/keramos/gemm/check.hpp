// What GEMM refuses, and how it says so. Host code; nothing here touches the data.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include <keramos/core/error.hpp>
#include <keramos/core/matrix_view.hpp>
#include <keramos/gemm/problem.hpp>

namespace keramos::detail {

/// A matrix without its type: address, bytes of an element, extents and strides in elements.
struct region {
  const char* name;
  const void* data;
  std::size_t element_bytes;
  index_t rows, cols;
  index_t row_stride, col_stride;

  bool empty() const { return rows == 0 || cols == 0; }
};

template <class T>
region region_of(const char* name, const matrix_view<T>& m) {
  return {name, m.data, sizeof(T), m.rows, m.cols, m.row_stride, m.col_stride};
}

/// Whether two different index pairs of `r` address the same element.
bool writes_twice(const region& r);

/// Whether the two regions share an element: exact where both are blocks of one matrix (equal leading
/// strides, the other stride 1) and where either is dense; otherwise true only if they provably do.
bool overlaps(const region& x, const region& y);

/// Whether it is plain at a glance that check_gemm would find nothing: the extents agree, C's rows or
/// columns lie side by side, and no byte between C's ends lies between those of A or B. Most calls are
/// like that, and a small product takes less time than the full check.
template <class T>
bool plainly_sound(const matrix_view<const T>& a, op op_a, const matrix_view<const T>& b, op op_b,
                   const matrix_view<T>& c) {
  const auto plain = [](const matrix_view<const T>& x) {
    return x.data != nullptr && x.row_stride >= 0 && x.col_stride >= 0;
  };
  const auto end = [](const auto& x) {
    return x.data + ((x.rows - 1) * x.row_stride + (x.cols - 1) * x.col_stride + 1);
  };
  const auto apart = [&](const matrix_view<const T>& x) {
    return std::less_equal<const T*>()(end(x), c.data) || std::less_equal<const T*>()(end(c), x.data);
  };
  const index_t k = op_a == op::N ? a.cols : a.rows;
  return (op_a == op::N ? a.rows : a.cols) == c.rows && (op_b == op::N ? b.cols : b.rows) == c.cols &&
         (op_b == op::N ? b.rows : b.cols) == k && c.rows > 0 && c.cols > 0 && k > 0 && plain(a) &&
         plain(b) && c.data != nullptr &&
         ((c.col_stride == 1 && c.row_stride >= c.cols) || (c.row_stride == 1 && c.col_stride >= c.rows)) &&
         apart(a) && apart(b);
}

/// @throws invalid_argument naming the first argument that breaks a promise, its value and the cure.
void check_gemm(const region& a, op op_a, const region& b, op op_b, const region& c);

}  // namespace keramos::detail

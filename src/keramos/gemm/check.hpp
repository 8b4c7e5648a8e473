// What GEMM refuses, and how it says so. Host code; nothing here touches the data.
#pragma once

#include <cstddef>
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

/// @throws invalid_argument naming the first argument that breaks a promise, its value and the cure.
void check_gemm(const region& a, op op_a, const region& b, op op_b, const region& c);

}  // namespace keramos::detail

// What GEMM refuses, and how it says so. Host code; nothing here touches the data.
#pragma once

#include <cstddef>
#include <cstdint>
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
/// columns lie side by side, and no byte between the ends of C lies between those of A or B.
/// Calls on small matrices are as short as the full check.
inline bool plainly_sound(const region& a, op op_a, const region& b, op op_b, const region& c) {
  struct ends {
    std::uintptr_t first, last;
  };
  const auto ends_of = [](const region& r) {
    const auto first = reinterpret_cast<std::uintptr_t>(r.data);
    const index_t last = (r.rows - 1) * r.row_stride + (r.cols - 1) * r.col_stride;
    return ends{first, first + std::uintptr_t(last + 1) * r.element_bytes};
  };
  const bool plain_a = op_a == op::N, plain_b = op_b == op::N;
  const index_t k = plain_a ? a.cols : a.rows;
  bool sound = (plain_a ? a.rows : a.cols) == c.rows && (plain_b ? b.cols : b.rows) == c.cols &&
               (plain_b ? b.rows : b.cols) == k && c.rows > 0 && c.cols > 0 && k > 0;
  for (const region* r : {&a, &b, &c})
    sound = sound && r->data != nullptr && r->row_stride >= 0 && r->col_stride >= 0;
  sound = sound &&
          ((c.col_stride == 1 && c.row_stride >= c.cols) || (c.row_stride == 1 && c.col_stride >= c.rows));
  const ends ea = ends_of(a), eb = ends_of(b), ec = ends_of(c);
  return sound && (ea.last <= ec.first || ec.last <= ea.first) &&
         (eb.last <= ec.first || ec.last <= eb.first);
}

/// @throws invalid_argument naming the first argument that breaks a promise, its value and the cure.
void check_gemm(const region& a, op op_a, const region& b, op op_b, const region& c);

}  // namespace keramos::detail

// What GEMM refuses, and how it says so. Host code; nothing here touches the data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <keramos/base/error.hpp>
#include <keramos/base/export.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/view/matrix_view.hpp>
#include <keramos/view/overlap.hpp>

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

inline strided_array strided(const region& r) {
  return {r.data, r.element_bytes, {r.rows, r.cols, 1}, {r.row_stride, r.col_stride, 0}};
}

/// Whether two different index pairs of `r` address the same element.
KERAMOS_EXPORT bool writes_twice(const region& r);

/// Whether the two regions share memory; see view/overlap.hpp for how exact these answers are.
KERAMOS_EXPORT bool overlaps(const region& x, const region& y);

/// Whether it is plain at a glance that check_gemm would find nothing: the extents agree, C's rows or
/// columns lie side by side, and no byte between C's ends lies between those of A or B. Most calls are
/// like that, and a small product takes less time than the full check.
template <class A, class B, class C>
bool plainly_sound(const matrix_view<const A>& a, op op_a, const matrix_view<const B>& b, op op_b,
                   const matrix_view<C>& c) {
  const auto plain = [](const auto& x) {
    return x.data != nullptr && x.row_stride >= 0 && x.col_stride >= 0;
  };
  const auto end = [](const auto& x) {
    return x.data + ((x.rows - 1) * x.row_stride + (x.cols - 1) * x.col_stride + 1);
  };
  const void* const c_end = end(c);
  const auto apart = [&](const auto& x) {
    return std::less_equal<const void*>()(end(x), c.data) || std::less_equal<const void*>()(c_end, x.data);
  };
  const index_t k = op_a == op::N ? a.cols : a.rows;
  return (op_a == op::N ? a.rows : a.cols) == c.rows && (op_b == op::N ? b.cols : b.rows) == c.cols &&
         (op_b == op::N ? b.rows : b.cols) == k && c.rows > 0 && c.cols > 0 && k > 0 && plain(a) &&
         plain(b) && c.data != nullptr &&
         ((c.col_stride == 1 && c.row_stride >= c.cols) || (c.row_stride == 1 && c.col_stride >= c.rows)) &&
         apart(a) && apart(b);
}

/// Extents, null data, and a C that is written twice; `caller` begins the message.
/// @throws invalid_argument naming the first argument that breaks a promise, its value and the cure.
KERAMOS_EXPORT void check_shapes(std::string_view caller, const region& a, op op_a, const region& b, op op_b,
                                 const region& c);
/// The same, and C's overlap with A and B.
KERAMOS_EXPORT void check_gemm(const region& a, op op_a, const region& b, op op_b, const region& c);

/// Throws unless the caller's complex numbers are aligned as those of kernels, which copy both parts at once.
template <class Kernel>
void check_alignment(const char* name, const void* data) {
  if constexpr (is_complex<Kernel>) {
    if (reinterpret_cast<std::uintptr_t>(data) % alignof(Kernel) != 0)
      throw invalid_argument("keramos::gemm: the address of " + std::string(name) + " is no multiple of " +
                             std::to_string(alignof(Kernel)) +
                             ", the bytes of its complex numbers; align its memory so");
  }
}

/// The address of the caller's elements of matrix `name`, as kernels take it.
template <class Kernel, class T>
auto as_kernel_type(const char* name, T* data) {
  static_assert(sizeof(Kernel) == sizeof(T));
  check_alignment<Kernel>(name, data);
  return reinterpret_cast<std::conditional_t<std::is_const_v<T>, const Kernel, Kernel>*>(data);
}

// --- Batches: check_batched.cpp ------------------------------------------------------------------

/// `batch` regions, `stride` elements from one to the next.
struct batch_region {
  region first;
  index_t batch;
  index_t stride;
  /// Whether the addresses are not known here: `first.data` is then where they are listed.
  bool addressed = false;

  region operator[](index_t b) const {
    region r = first;
    r.data = static_cast<const char*>(first.data) + b * stride * index_t(first.element_bytes);
    return r;
  }
  bool empty() const { return batch == 0 || first.empty(); }
};

/// Whether two different index triples of `r` address the same element.
KERAMOS_EXPORT bool writes_twice(const batch_region& r);

/// Whether a matrix of `x` overlaps one of `y`; which ones then.
KERAMOS_EXPORT bool overlaps(const batch_region& x, const batch_region& y, index_t& which_x,
                             index_t& which_y);

/// @throws invalid_argument as check_gemm, also if C's matrices overlap one another.
KERAMOS_EXPORT void check_gemm_batched(const batch_region& a, op op_a, const batch_region& b, op op_b,
                                       const batch_region& c);
/// Whether A, and B, are one matrix for all problems. A list of one is not.
struct one_for_all {
  bool a, b;
};
/// @throws invalid_argument as check_gemm and the above, for matrices that lie anywhere.
KERAMOS_EXPORT void check_gemm_batched(const std::vector<region>& a, op op_a, const std::vector<region>& b,
                                       op op_b, const std::vector<region>& c, one_for_all given);

}  // namespace keramos::detail

// keramos::transpose: B ← Aᵀ. `keramos::transpose(q, a, b);`
#pragma once

#include <cstdlib>
#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/algorithm/transpose_kernel.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

/// B ← Aᵀ on the queue; returns at once.
///
/// @param a  m x n: a rank-2 View of any layout, an mdspan or a matrix_view, of any type that is
///           trivially copyable and can be made without arguments
/// @param b  n x m, of the same type and any layout: a row-major A and a column-major B are a plain copy
/// @throws invalid_argument if the extents disagree, data is null, or B overlaps A or itself.
///
/// Each element is read and written once: 2·m·n·sizeof(T) bytes.
template <class Exec, matrix_like MA, matrix_like MB>
basic_event<Exec> transpose(basic_queue<Exec>& q, const MA& a, const MB& b) {
  using element = typename decltype(as_matrix(a))::value_type;
  static_assert(std::is_same_v<decltype(as_matrix(b).data), element*>,
                "keramos::transpose: A and B must have one element type, and B's must not be const");
  static_assert(
      std::is_trivially_copyable_v<element> && std::is_default_constructible_v<element>,
      "keramos::transpose: elements are copied through others of their type, so it must be trivially "
      "copyable and default constructible");
  static_assert(detail::reaches<Exec, MA>() && detail::reaches<Exec, MB>(),
                "keramos::transpose: a View lies in memory that this queue's execution space cannot access");
  const matrix_view<const element> from = as_matrix(a);
  const matrix_view<element> to = as_matrix(b);
  const auto arg_a = detail::argument("A", as_grid<2>(from)), arg_b = detail::argument("B", as_grid<2>(to));
  detail::check_array("transpose", arg_a);
  const index_t wanted[] = {from.cols, from.rows};
  detail::check_extents("transpose", arg_b, wanted, "the extents of A, exchanged");
  detail::check_output("transpose", arg_b);
  detail::check_disjoint("transpose", arg_a, arg_b);
  if (from.rows == 0 || from.cols == 0) return q.mark();

  // to(i, j) = from(i, j) with j along the memory of `from`.
  matrix_view<const element> x = from;
  matrix_view<element> y = to.transposed();
  const auto along_rows = [](const auto& m) {
    return m.rows > 1 && (m.cols == 1 || std::abs(m.row_stride) < std::abs(m.col_stride));
  };
  if (along_rows(x)) x = x.transposed(), y = y.transposed();
  if constexpr (detail::turns_in_tiles<element>)
    if (along_rows(y)) return detail::launch_transpose<true>(q, x, y);
  return detail::launch_transpose<false>(q, x, y);
}

}  // namespace keramos

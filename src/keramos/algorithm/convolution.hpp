// keramos::convolve: batched discrete convolution in one dimension. `keramos::convolve(q, x, w, y);`, or with
// `{keramos::convolution_mode::same}` as options.
#pragma once

#include <type_traits>

#include <keramos/algorithm/check.hpp>
#include <keramos/algorithm/convolution_kernel.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/grid_view.hpp>

namespace keramos {

/// Which outputs a convolution of n values with r taps has, by NumPy's and SciPy's names.
enum class convolution_mode {
  full,  ///< all n + r - 1 at which they overlap
  same,  ///< the n in the middle of those: output i is centred on value i, for even r to its left
  valid  ///< the n - r + 1 at which they overlap completely
};

struct convolution_options {
  convolution_mode mode = convolution_mode::full;
};

/// Outputs of a convolution of n values with r taps.
constexpr index_t convolution_length(index_t n, index_t r, convolution_mode mode) {
  if (n == 0 || r == 0) return 0;
  switch (mode) {
    case convolution_mode::full:
      return n + r - 1;
    case convolution_mode::same:
      return n;
    case convolution_mode::valid:
      break;
  }
  return n >= r ? n - r + 1 : 0;
}

/// y(b, i) ← Σ_j w(b, j)·x(b, i + s - j) for every signal b, over those j for which x has that value. Returns at once.
///
/// @param x  batch x n: a rank-2 View of any layout, an mdspan or a matrix_view of float, double or integers
/// @param w  1 x r, for all signals, or batch x r, for each its own; the filter is reversed, as convolution
///           is defined: for correlation, reverse w
/// @param y  batch x convolution_length(n, r, options.mode); s is 0, (r - 1) / 2 or r - 1 by mode
/// @throws invalid_argument if the extents do not fit, data is null, or y overlaps x or w or itself.
///
/// Sums run in the element type over ascending j, so that |ŷ - y| ≤ γ(r)·(|w| * |x|), and the same call
/// gives bitwise the same answer. Direct summation: r·batch·n multiply-adds.
template <class Exec, matrix_like MX, matrix_like MW, matrix_like MY>
basic_event<Exec> convolve(basic_queue<Exec>& q, const MX& x, const MW& w, const MY& y,
                           const convolution_options& options = {}) {
  using element = typename decltype(as_matrix(x))::value_type;
  static_assert(std::is_same_v<typename decltype(as_matrix(w))::value_type, element> &&
                    std::is_same_v<decltype(as_matrix(y).data), element*>,
                "keramos::convolve: x, w and y must have one element type, and y's must not be const");
  static_assert(std::is_arithmetic_v<element>, "keramos::convolve: elements must be numbers");
  static_assert(detail::reaches<Exec, MX>() && detail::reaches<Exec, MW>() && detail::reaches<Exec, MY>(),
                "keramos::convolve: a View lies in memory that this queue's execution space cannot access");
  const matrix_view<const element> xv = as_matrix(x), wv = as_matrix(w);
  const matrix_view<element> yv = as_matrix(y);
  const auto arg_x = detail::argument("x", as_grid<2>(xv)), arg_w = detail::argument("w", as_grid<2>(wv));
  const auto arg_y = detail::argument("y", as_grid<2>(yv));
  detail::check_array("convolve", arg_x);
  detail::check_array("convolve", arg_w);
  const index_t filters[] = {wv.rows == 1 ? 1 : xv.rows, wv.cols};
  detail::check_extents("convolve", arg_w, filters, "one filter for all signals, or one for each");
  const index_t outputs[] = {xv.rows, convolution_length(xv.cols, wv.cols, options.mode)};
  detail::check_extents("convolve", arg_y, outputs, "batch x convolution_length(n, r, options.mode)");
  detail::check_output("convolve", arg_y);
  detail::check_disjoint("convolve", arg_x, arg_y);
  detail::check_disjoint("convolve", arg_w, arg_y);
  if (yv.rows == 0 || yv.cols == 0) return q.mark();

  const index_t shift = options.mode == convolution_mode::full   ? 0
                        : options.mode == convolution_mode::same ? (wv.cols - 1) / 2
                                                                 : wv.cols - 1;
  if (yv.cols <= 256) return detail::launch_convolution<32>(q, xv, wv, yv, shift);
  return detail::launch_convolution<128>(q, xv, wv, yv, shift);
}

}  // namespace keramos

// keramos::convolve: batched discrete convolution in one dimension.
#pragma once

#include <string>
#include <type_traits>

#include <keramos/algorithm/check.hpp>
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

namespace detail {

/// A group computes `Items * 8` neighbouring outputs of one signal. It brings taps and the values under
/// them on chip in pieces; an item holds 8 outputs and a window of values in registers, so that 8 values
/// and 8 taps loaded make 64 multiply-adds.
template <class Exec, class T, int Items>
struct convolution_kernel {
  static constexpr int outputs = 8;
  static constexpr int width = Items * outputs;
  static constexpr int taps = 64;
  static constexpr int groups_per_unit = 1024 / Items;
  static constexpr int window = width + taps;
  static constexpr int loads = (window + Items - 1) / Items;
  static constexpr bool banked = !backend::traits<Exec>::is_host;
  /// On a GPU one element behind each 128 bytes keeps items, 8 elements apart, on different banks. The 8 from a
  /// multiple of 8 on lie together.
  KERAMOS_FORCEINLINE_FUNCTION static constexpr int place(int i) {
    return banked ? i + i / int(128 / sizeof(T)) : i;
  }
  using values_type = local_array<T, place(window - 1) + 1>;
  using taps_type = local_array<T, taps>;
  using group_type = group<local_range<1, Items>, local_memory<values_type, taps_type>, Exec>;

  matrix_view<const T> x;  // (batch, n)
  matrix_view<const T> w;  // (batch or 1, r)
  matrix_view<T> y;        // (batch, outputs)
  index_t shift;           // y(i) = sum over j of w(j) x(i + shift - j)

  struct sums {
    T value[outputs];
  };

  KERAMOS_FORCEINLINE_FUNCTION void operator()(group_type& g) const {
    const auto values = g.template local<0>();
    const auto tap = g.template local<1>();
    const index_t row = g.get_group_id(0), i0 = g.get_group_id(1) * width;
    const T* const signal = x.data + row * x.row_stride;
    const T* const filter = w.data + (w.rows == 1 ? 0 : row) * w.row_stride;
    const index_t n = x.cols, r = w.cols, x_step = x.col_stride, w_step = w.col_stride;
    const index_t length = y.cols;
    auto acc = g.make_private(sums{});

    for (index_t j0 = 0; j0 < r; j0 += taps) {
      // values(v) is x(base + v): output o and tap j need v = o - j + taps.
      const index_t base = i0 + shift - j0 - taps;
      if (base + window <= 0 || base >= n) continue;  // nothing but zeros
      g.parallel_for_work_item([=](h_item it) {
        T v[loads];
        KERAMOS_UNROLL
        for (int s = 0; s < loads; ++s) {
          const index_t at = base + it.j + s * Items;
          v[s] = 0 <= at && at < n ? signal[at * x_step] : T(0);
        }
        KERAMOS_UNROLL
        for (int s = 0; s < loads; ++s)
          if (it.j + s * Items < window) values[place(it.j + s * Items)] = v[s];
        for (int j = it.j; j < taps; j += Items) tap(j) = j0 + j < r ? filter[(j0 + j) * w_step] : T(0);
      });
      g.barrier();
      const int count = r - j0 < taps ? int(r - j0) : taps;
      // x has values(v) for begin <= v < end.
      const int begin = base < 0 ? int(-base) : 0, end = n - base < window ? int(n - base) : window;
      g.parallel_for_work_item(
          [=](h_item it, sums& sum) {
            if (i0 + it.j * outputs >= length) return;
            const int first = it.j * outputs + taps;
            T held[2 * outputs];  // values first - j - 8 ... first - j + 7
            KERAMOS_UNROLL
            for (int v = 0; v < outputs; ++v) held[outputs + v] = values[place(first) + v];
            // Zeros stand where x has no value. They may be multiplied, but not by NaN or infinity.
            bool zeros_count = true;
            if (first - count + 1 < begin || first + outputs > end)  // few items
              for (int t = 0; t < count; ++t) zeros_count = zeros_count && tap[t] - tap[t] == T(0);
            int j = 0;
            if (zeros_count)
              for (; j + outputs <= count; j += outputs) {
                KERAMOS_UNROLL
                for (int v = 0; v < outputs; ++v) held[v] = values[place(first - j - outputs) + v];
                KERAMOS_UNROLL
                for (int t = 0; t < outputs; ++t) {
                  const T factor = tap[j + t];
                  KERAMOS_UNROLL
                  for (int o = 0; o < outputs; ++o) sum.value[o] += factor * held[outputs + o - t];
                }
                KERAMOS_UNROLL
                for (int v = 0; v < outputs; ++v) held[outputs + v] = held[v];
              }
            // Tap by tap what is left, and what must be left out.
            KERAMOS_NO_UNROLL
            for (; j < count; ++j) {
              const T factor = tap[j];
              KERAMOS_UNROLL
              for (int o = 0; o < outputs; ++o) {
                const int v = first - j + o;
                if (begin <= v && v < end) sum.value[o] += factor * held[outputs + o];
              }
              KERAMOS_UNROLL
              for (int v = outputs - 1; v > 0; --v) held[outputs + v] = held[outputs + v - 1];
              held[outputs] = values[place(first - j - 1)];
            }
          },
          acc);
      g.barrier();
    }

    // By local memory, so that items write neighbours.
    g.parallel_for_work_item(
        [=](h_item it, sums& sum) {
          KERAMOS_UNROLL
          for (int o = 0; o < outputs; ++o) values[place(it.j * outputs) + o] = sum.value[o];
        },
        acc);
    g.barrier();
    T* const out = y.data + row * y.row_stride + i0 * y.col_stride;
    const index_t y_step = y.col_stride;
    g.parallel_for_work_item([=](h_item it) {
      KERAMOS_UNROLL
      for (int o = 0; o < outputs; ++o) {
        const int i = it.j + o * Items;
        if (i0 + i < length) out[i * y_step] = values[place(i)];
      }
    });
  }
};

template <int Items, class Exec, class T>
basic_event<Exec> launch_convolution(basic_queue<Exec>& q, const matrix_view<const T>& x,
                                     const matrix_view<const T>& w, const matrix_view<T>& y, index_t shift) {
  using kernel = convolution_kernel<Exec, T, Items>;
  return q.template parallel_for_work_group<typename kernel::group_type>(
      "keramos::convolve", range{y.rows, (y.cols + kernel::width - 1) / kernel::width},
      kernel{x, w, y, shift});
}

}  // namespace detail

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

// The kernel of convolution.hpp. Internal.
#pragma once

#include <keramos/core/queue.hpp>
#include <keramos/view/matrix_view.hpp>

namespace keramos::detail {

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

}  // namespace keramos::detail

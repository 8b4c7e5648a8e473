// Step 2: the group brings a tile of A and one of B to local memory, and every element there serves a whole
// row or column of its items.
#pragma once

#include "matrices.hpp"

namespace keramos::perf::ladder {

struct tiled {
  static constexpr const char* name = "tiled";
  static constexpr bool transposed_b = false, beside = false;
  static constexpr const char* why =
      "each element that comes to local memory is used by a whole row or column of items: the tile's width "
      "divides the global traffic";

  template <class T, int Width>
  static constexpr tiling::shape block() {
    return {Width, Width, Width};
  }
  template <class T, int Width>
  static double elements(double m, double n, double k) {
    return elements_moved(m, n, k, Width, Width);
  }

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using square = keramos::local_array<T, Width, Width>;
    using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<square, square>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k;
    q.parallel_for_work_group<wg>(
        "ladder::tiled", keramos::range{ceil_div(m, Width), ceil_div(n, Width)}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();  // (m, k)
          auto b = g.template local<1>();  // (k, n)
          auto sum = g.make_private(sum_of<T>(0));
          for (index_t k0 = 0; k0 < k; k0 += Width) {
            g.parallel_for_work_item([=](keramos::h_item it) {
              a(it.i, it.j) = it.gi < m && k0 + it.j < k ? A(it.gi, k0 + it.j) : T(0);
              b(it.i, it.j) = k0 + it.i < k && it.gj < n ? B(k0 + it.i, it.gj) : T(0);
            });
            g.barrier();
            g.parallel_for_work_item(
                [=](keramos::h_item it, sum_of<T>& c) {
                  for (int p = 0; p < Width; ++p) c += a(it.i, p) * b(p, it.j);
                },
                sum);
            g.barrier();
          }
          g.parallel_for_work_item(
              [=](keramos::h_item it, sum_of<T>& c) {
                if (it.gi < m && it.gj < n) C(it.gi, it.gj) = T(c);
              },
              sum);
        });
  }
};

}  // namespace keramos::perf::ladder

// Step 1: one item for each element of C, which reads its row of A and its column of B from global memory.
#pragma once

#include "matrices.hpp"

namespace keramos::perf::ladder {

struct naive {
  static constexpr const char* name = "naive";
  static constexpr bool transposed_b = false, beside = false;
  static constexpr const char* why =
      "each multiply-add asks global memory for both its operands; only caches and broadcasts help";

  template <class T, int Width>
  static constexpr tiling::shape block() {
    return {Width, Width, 1};
  }
  template <class T, int Width>
  static double elements(double m, double n, double k) {
    return 2 * m * n * k + m * n;
  }

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using wg = keramos::group<keramos::local_range<Width, Width>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k;
    q.parallel_for_work_group<wg>(
        "ladder::naive", keramos::range{ceil_div(m, Width), ceil_div(n, Width)}, KERAMOS_LAMBDA(wg & g) {
          g.parallel_for_work_item([=](keramos::h_item it) {
            if (it.gi >= m || it.gj >= n) return;
            sum_of<T> sum(0);
            for (index_t p = 0; p < k; ++p) sum += A(it.gi, p) * B(p, it.gj);
            C(it.gi, it.gj) = T(sum);
          });
        });
  }
};

}  // namespace keramos::perf::ladder

// Step 5: an item keeps a tile of C in registers and adds outer products to it: for R + R elements read from
// local memory it does R·R multiply-adds, where the steps before read two for each one.
//
// Items own every Width-th row and column, so that neighbours read neighbours. How deep a k-tile is the kernel
// learns when it runs: step 6 shows what that costs.
#pragma once

#include "matrices.hpp"

namespace keramos::perf::ladder {

struct outer_product {
  static constexpr const char* name = "outer_product";
  static constexpr bool transposed_b = false, beside = false;
  static constexpr const char* why =
      "a register tile of C turns 2 reads of local memory a multiply-add into 2 for as many as the tile is "
      "wide, and the larger block divides the global traffic again";

  template <class T, int Width>
  static constexpr tiling::shape block() {
    using tile = register_tile<Width>;
    return {tile::block, tile::block, tile::depth};
  }
  template <class T, int Width>
  static double elements(double m, double n, double k) {
    return elements_moved(m, n, k, register_tile<Width>::block, register_tile<Width>::block);
  }

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using tile = register_tile<Width>;
    constexpr int R = tile::thread, block = tile::block, most_depth = tile::depth;
    using panel_a = keramos::local_array<T, most_depth, block + 4>;  // turned, so that a k-tile's rows are k
    using panel_b = keramos::local_array<T, most_depth, block>;
    using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<panel_a, panel_b>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k;
    const int depth = k < most_depth ? int(k) : most_depth;
    q.parallel_for_work_group<wg>(
        "ladder::outer_product", keramos::range{ceil_div(m, block), ceil_div(n, block)},
        KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();  // (k, m)
          auto b = g.template local<1>();  // (k, n)
          auto sum = g.make_private(fragment<T, R, R>());
          const index_t m0 = g.get_group_id(0) * block, n0 = g.get_group_id(1) * block;
          for (index_t k0 = 0; k0 < k; k0 += depth) {
            g.parallel_for_work_item([=](keramos::h_item it) {
              for (int e = it.linear; e < block * depth; e += tile::items) {
                const int i = e / depth, p = e % depth;
                a(p, i) = m0 + i < m && k0 + p < k ? A(m0 + i, k0 + p) : T(0);
              }
              for (int e = it.linear; e < block * depth; e += tile::items) {
                const int p = e / block, j = e % block;
                b(p, j) = k0 + p < k && n0 + j < n ? B(k0 + p, n0 + j) : T(0);
              }
            });
            g.barrier();
            g.parallel_for_work_item(
                [=](keramos::h_item it, fragment<T, R, R>& c) {
                  for (int p = 0; p < depth; ++p) {
                    T a_frag[R], b_frag[R];
                    for (int r = 0; r < R; ++r) a_frag[r] = a(p, it.i + r * Width);
                    for (int s = 0; s < R; ++s) b_frag[s] = b(p, it.j + s * Width);
                    for (int r = 0; r < R; ++r)
                      for (int s = 0; s < R; ++s) c.value[r][s] += a_frag[r] * b_frag[s];
                  }
                },
                sum);
            g.barrier();
          }
          g.parallel_for_work_item(
              [=](keramos::h_item it, fragment<T, R, R>& c) {
                for (int r = 0; r < R; ++r)
                  for (int s = 0; s < R; ++s) {
                    const index_t i = m0 + it.i + r * Width, j = n0 + it.j + s * Width;
                    if (i < m && j < n) C(i, j) = c.value[r][s];
                  }
              },
              sum);
        });
  }
};

}  // namespace keramos::perf::ladder

// Step 6: step 5 with every extent known to the compiler and every loop of a phase unrolled: addresses become
// constants of the instructions, counters and branches vanish, and reads overlap with products.
#pragma once

#include "5_outer_product.hpp"

namespace keramos::perf::ladder {

struct unrolled : outer_product {
  static constexpr const char* name = "unrolled";
  static constexpr const char* why =
      "with the k-tile's depth a constant, addresses and counters cost no instructions, and reads of local "
      "memory overlap with products";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using tile = register_tile<Width>;
    constexpr int R = tile::thread, block = tile::block, depth = tile::depth;
    constexpr int loads = block * depth / tile::items;  // of each operand, for an item
    using panel_a = keramos::local_array<T, depth, block + 4>;
    using panel_b = keramos::local_array<T, depth, block>;
    using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<panel_a, panel_b>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k;
    q.parallel_for_work_group<wg>(
        "ladder::unrolled", keramos::range{ceil_div(m, block), ceil_div(n, block)}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();  // (k, m)
          auto b = g.template local<1>();  // (k, n)
          auto sum = g.make_private(fragment<T, R, R>());
          const index_t m0 = g.get_group_id(0) * block, n0 = g.get_group_id(1) * block;
          for (index_t k0 = 0; k0 < k; k0 += depth) {
            g.parallel_for_work_item([=](keramos::h_item it) {
              KERAMOS_UNROLL
              for (int s = 0; s < loads; ++s) {
                const int e = it.linear + s * tile::items, i = e / depth, p = e % depth;
                a(p, i) = m0 + i < m && k0 + p < k ? A(m0 + i, k0 + p) : T(0);
              }
              KERAMOS_UNROLL
              for (int s = 0; s < loads; ++s) {
                const int e = it.linear + s * tile::items, p = e / block, j = e % block;
                b(p, j) = k0 + p < k && n0 + j < n ? B(k0 + p, n0 + j) : T(0);
              }
            });
            g.barrier();
            g.parallel_for_work_item(
                [=](keramos::h_item it, fragment<T, R, R>& c) {
                  KERAMOS_UNROLL
                  for (int p = 0; p < depth; ++p) {
                    T a_frag[R], b_frag[R];
                    KERAMOS_UNROLL
                    for (int r = 0; r < R; ++r) a_frag[r] = a(p, it.i + r * Width);
                    KERAMOS_UNROLL
                    for (int s = 0; s < R; ++s) b_frag[s] = b(p, it.j + s * Width);
                    KERAMOS_UNROLL
                    for (int r = 0; r < R; ++r) KERAMOS_UNROLL
                    for (int s = 0; s < R; ++s) c.value[r][s] += a_frag[r] * b_frag[s];
                  }
                },
                sum);
            g.barrier();
          }
          g.parallel_for_work_item(
              [=](keramos::h_item it, fragment<T, R, R>& c) {
                KERAMOS_UNROLL
                for (int r = 0; r < R; ++r) KERAMOS_UNROLL
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

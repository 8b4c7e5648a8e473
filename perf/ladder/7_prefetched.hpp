// Step 7: step 6 with two buffers. While a k-tile is multiplied, the next one is on its way to registers; it is
// stored into the other buffer, which nobody reads, so one barrier a k-tile is enough.
#pragma once

#include "5_outer_product.hpp"

namespace keramos::perf::ladder {

// An item's share of the next k-tile, on its way.
template <class T, int Count>
struct staged {
  T a[Count], b[Count];
};

struct prefetched : outer_product {
  static constexpr const char* name = "prefetched";
  static constexpr const char* why =
      "the next k-tile travels from global memory while this one is multiplied, and double buffers halve the "
      "barriers";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using tile = register_tile<Width>;
    constexpr int R = tile::thread, block = tile::block, depth = tile::depth;
    constexpr int loads = block * depth / tile::items;
    using k_tile = staged<T, loads>;
    using panels_a = keramos::local_array<T, 2, depth, block + 4>;
    using panels_b = keramos::local_array<T, 2, depth, block>;
    using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<panels_a, panels_b>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k;
    q.parallel_for_work_group<wg>(
        "ladder::prefetched", keramos::range{ceil_div(m, block), ceil_div(n, block)}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();  // (slot, k, m)
          auto b = g.template local<1>();  // (slot, k, n)
          auto sum = g.make_private(fragment<T, R, R>());
          auto next = g.make_private(k_tile());
          const index_t m0 = g.get_group_id(0) * block, n0 = g.get_group_id(1) * block;
          const auto load = [&](index_t k0) {
            g.parallel_for_work_item(
                [=](keramos::h_item it, k_tile& to) {
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * tile::items, i = e / depth, p = e % depth;
                    to.a[s] = m0 + i < m && k0 + p < k ? A(m0 + i, k0 + p) : T(0);
                  }
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * tile::items, p = e / block, j = e % block;
                    to.b[s] = k0 + p < k && n0 + j < n ? B(k0 + p, n0 + j) : T(0);
                  }
                },
                next);
          };
          const auto store = [&](int slot) {
            g.parallel_for_work_item(
                [=](keramos::h_item it, k_tile& from) {
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * tile::items;
                    a(slot, e % depth, e / depth) = from.a[s];
                    b(slot, e / block, e % block) = from.b[s];
                  }
                },
                next);
            g.barrier();
          };
          load(0);
          store(0);
          int slot = 0;
          for (index_t k0 = 0; k0 < k; k0 += depth) {
            const bool more = k0 + depth < k;
            if (more) load(k0 + depth);
            g.parallel_for_work_item(
                [=](keramos::h_item it, fragment<T, R, R>& c) {
                  KERAMOS_UNROLL
                  for (int p = 0; p < depth; ++p) {
                    T a_frag[R], b_frag[R];
                    KERAMOS_UNROLL
                    for (int r = 0; r < R; ++r) a_frag[r] = a(slot, p, it.i + r * Width);
                    KERAMOS_UNROLL
                    for (int s = 0; s < R; ++s) b_frag[s] = b(slot, p, it.j + s * Width);
                    KERAMOS_UNROLL
                    for (int r = 0; r < R; ++r) KERAMOS_UNROLL
                    for (int s = 0; s < R; ++s) c.value[r][s] += a_frag[r] * b_frag[s];
                  }
                },
                sum);
            slot = 1 - slot;
            if (more) store(slot);
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

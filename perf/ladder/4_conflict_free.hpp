// Step 4: how the tile lies in local memory. Kept as it comes (n x k), neighbouring items read a whole row
// apart there: with rows of 8, 16 or 32 elements many of them meet in one bank and take turns. One element
// of padding a row moves every row on by a bank. On hosts, which have no banks, it helps the cache's sets.
#pragma once

#include "matrices.hpp"

namespace keramos::perf::ladder {

template <class T, int Width, int Pad>
void tiled_kept(const char* label, keramos::queue& q, const operands<T>& x) {
  using square = keramos::local_array<T, Width, Width>;
  using padded = keramos::local_array<T, Width, Width + Pad>;
  using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<square, padded>>;
  const auto A = x.a, Bt = x.b;
  const auto C = x.c;
  const index_t m = x.m, n = x.n, k = x.k;
  q.parallel_for_work_group<wg>(
      label, keramos::range{ceil_div(m, Width), ceil_div(n, Width)}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.template local<0>();  // (m, k)
        auto b = g.template local<1>();  // (n, k)
        auto sum = g.make_private(T(0));
        const index_t n0 = g.get_group_id(1) * Width;
        for (index_t k0 = 0; k0 < k; k0 += Width) {
          g.parallel_for_work_item([=](keramos::h_item it) {
            a(it.i, it.j) = it.gi < m && k0 + it.j < k ? A(it.gi, k0 + it.j) : T(0);
            b(it.i, it.j) = n0 + it.i < n && k0 + it.j < k ? Bt(n0 + it.i, k0 + it.j) : T(0);
          });
          g.barrier();
          g.parallel_for_work_item(
              [=](keramos::h_item it, T& c) {
                for (int p = 0; p < Width; ++p) c += a(it.i, p) * b(it.j, p);
              },
              sum);
          g.barrier();
        }
        g.parallel_for_work_item(
            [=](keramos::h_item it, T& c) {
              if (it.gi < m && it.gj < n) C(it.gi, it.gj) = c;
            },
            sum);
      });
}

struct conflicting {
  static constexpr const char* name = "bank_conflicts";
  static constexpr bool transposed_b = true, beside = true;
  static constexpr const char* why =
      "the tile of B is read down its columns, whose elements lie in few banks of local memory: reads queue";

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
    tiled_kept<T, Width, 0>("ladder::bank_conflicts", q, x);
  }
};

struct conflict_free : conflicting {
  static constexpr const char* name = "conflict_free";
  static constexpr bool beside = false;
  static constexpr const char* why =
      "one element of padding a row spreads a column over all banks, and nothing else changes";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    tiled_kept<T, Width, 1>("ladder::conflict_free", q, x);
  }
};

}  // namespace keramos::perf::ladder

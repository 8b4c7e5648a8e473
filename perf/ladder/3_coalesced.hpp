// Step 3: B comes transposed (n x k, as for x·Wᵀ). Read where the items need it, neighbouring items ask for
// elements a whole row apart, a memory transaction each. Read along its rows, neighbours share one, and the
// tile is turned on its way into local memory.
#pragma once

#include "matrices.hpp"

namespace keramos::perf::ladder {

// Both have step 2's tile and differ in who loads what.
template <class T, int Width, bool Coalesced>
void tiled_transposed(const char* label, keramos::queue& q, const operands<T>& x) {
  using square = keramos::local_array<T, Width, Width>;
  using wg = keramos::group<keramos::local_range<Width, Width>, keramos::local_memory<square, square>>;
  const auto A = x.a, Bt = x.b;
  const auto C = x.c;
  const index_t m = x.m, n = x.n, k = x.k;
  q.parallel_for_work_group<wg>(
      label, keramos::range{ceil_div(m, Width), ceil_div(n, Width)}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.template local<0>();  // (m, k)
        auto b = g.template local<1>();  // (k, n)
        auto sum = g.make_private(T(0));
        const index_t n0 = g.get_group_id(1) * Width;
        for (index_t k0 = 0; k0 < k; k0 += Width) {
          g.parallel_for_work_item([=](keramos::h_item it) {
            a(it.i, it.j) = it.gi < m && k0 + it.j < k ? A(it.gi, k0 + it.j) : T(0);
            if (Coalesced)  // neighbours in j: neighbours in memory
              b(it.j, it.i) = n0 + it.i < n && k0 + it.j < k ? Bt(n0 + it.i, k0 + it.j) : T(0);
            else  // neighbours in j: k elements apart
              b(it.i, it.j) = it.gj < n && k0 + it.i < k ? Bt(it.gj, k0 + it.i) : T(0);
          });
          g.barrier();
          g.parallel_for_work_item(
              [=](keramos::h_item it, T& c) {
                for (int p = 0; p < Width; ++p) c += a(it.i, p) * b(p, it.j);
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

struct uncoalesced {
  static constexpr const char* name = "uncoalesced";
  static constexpr bool transposed_b = true, beside = true;
  static constexpr const char* why =
      "B is transposed: neighbouring items read a whole row apart, so a memory transaction serves one of "
      "them";

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
    tiled_transposed<T, Width, false>("ladder::uncoalesced", q, x);
  }
};

struct coalesced : uncoalesced {
  static constexpr const char* name = "coalesced";
  static constexpr bool beside = false;
  static constexpr const char* why =
      "neighbouring items read neighbours in memory, one transaction for all; local memory turns the tile";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    tiled_transposed<T, Width, true>("ladder::coalesced", q, x);
  }
};

}  // namespace keramos::perf::ladder

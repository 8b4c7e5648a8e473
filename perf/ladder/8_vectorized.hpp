// Step 8: 16 bytes at once, from global memory (where rows are aligned for it) and from local memory, and items
// ordered as warps: 32 consecutive items compute a compact tile of C, 4 of them along m and 8 along n, so that
// a warp's reads of local memory are few and wide. Otherwise as step 7.
#pragma once

#include <cstdint>

#include "7_prefetched.hpp"

namespace keramos::perf::ladder {

template <class T>
struct alignas(16) vector {
  static constexpr int size = 16 / int(sizeof(T));
  T value[size];
};

// The vector at (row, col), zeros beyond the matrix; `whole` says that rows are aligned for vectors.
template <class T>
KERAMOS_FORCEINLINE_FUNCTION vector<T> load_vector(const row_major<const T>& from, index_t row, index_t col,
                                                   index_t rows, index_t cols, bool whole) {
  vector<T> v;
  if (whole && row < rows && col + vector<T>::size <= cols)
    return *reinterpret_cast<const vector<T>*>(&from(row, col));
  KERAMOS_UNROLL
  for (int i = 0; i < vector<T>::size; ++i)
    v.value[i] = row < rows && col + i < cols ? from(row, col + i) : T(0);
  return v;
}

template <class T>
KERAMOS_FORCEINLINE_FUNCTION vector<T> local_vector(const T& first) {
  return *reinterpret_cast<const vector<T>*>(&first);
}

template <class T>
bool aligned_rows(const row_major<const T>& x) {
  return x.extent(1) % vector<T>::size == 0 && reinterpret_cast<std::uintptr_t>(x.data()) % 16 == 0;
}

// Runs of 16 bytes of an item's rows or columns: run r of lane `lane` of `lanes` starts here in the warp's tile.
template <class T, int Lanes>
KERAMOS_FORCEINLINE_FUNCTION constexpr int run_start(int lane, int run) {
  return (run * Lanes + lane) * vector<T>::size;
}

struct vectorized : outer_product {
  static constexpr const char* name = "vectorized";
  static constexpr const char* why =
      "one instruction moves 16 bytes, and a warp's compact tile makes its items share what they read";

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    using tile = register_tile<Width>;
    constexpr int R = tile::thread, block = tile::block, depth = tile::depth, V = vector<T>::size;
    constexpr int vectors = block * depth / V;  // of a k-tile of one operand
    constexpr int loads = (vectors + tile::items - 1) / tile::items;
    constexpr int lanes_m = 4, lanes_n = 8, warps_n = block / (lanes_n * R);
    using k_tile = staged<vector<T>, loads>;
    using panels = keramos::local_array<T, 2, depth, block + 4>;  // (slot, k, m or n); rows stay aligned
    using wg = keramos::group<keramos::local_range<tile::items>, keramos::local_memory<panels, panels>>;
    const auto A = x.a, B = x.b;
    const auto C = x.c;
    const index_t m = x.m, n = x.n, k = x.k, blocks_n = ceil_div(n, block);
    const bool whole_a = aligned_rows(A), whole_b = aligned_rows(B);
    q.parallel_for_work_group<wg>(
        "ladder::vectorized", keramos::range{ceil_div(m, block) * blocks_n}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();
          auto b = g.template local<1>();
          auto sum = g.make_private(fragment<T, R, R>());
          auto next = g.make_private(k_tile());
          const index_t m0 = g.get_group_id(0) / blocks_n * block, n0 = g.get_group_id(0) % blocks_n * block;
          const auto load = [&](index_t k0) {
            g.parallel_for_work_item(
                [=](keramos::h_item it, k_tile& to) {
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * tile::items;
                    if (vectors % tile::items != 0 && e >= vectors) break;
                    to.a[s] = load_vector(A, m0 + e / (depth / V), k0 + e % (depth / V) * V, m, k, whole_a);
                    to.b[s] = load_vector(B, k0 + e / (block / V), n0 + e % (block / V) * V, k, n, whole_b);
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
                    if (vectors % tile::items != 0 && e >= vectors) break;
                    KERAMOS_UNROLL
                    for (int v = 0; v < V; ++v)
                      a(slot, e % (depth / V) * V + v, e / (depth / V)) = from.a[s].value[v];
                    *reinterpret_cast<vector<T>*>(&b(slot, e / (block / V), e % (block / V) * V)) = from.b[s];
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
                  const int warp = it.linear / 32, lane = it.linear % 32;
                  const int i0 = warp / warps_n * lanes_m * R, j0 = warp % warps_n * lanes_n * R;
                  KERAMOS_UNROLL
                  for (int p = 0; p < depth; ++p) {
                    vector<T> a_frag[R / V], b_frag[R / V];
                    KERAMOS_UNROLL
                    for (int r = 0; r < R / V; ++r) {
                      a_frag[r] = local_vector(a(slot, p, i0 + run_start<T, lanes_m>(lane / lanes_n, r)));
                      b_frag[r] = local_vector(b(slot, p, j0 + run_start<T, lanes_n>(lane % lanes_n, r)));
                    }
                    KERAMOS_UNROLL
                    for (int r = 0; r < R; ++r) KERAMOS_UNROLL
                    for (int s = 0; s < R; ++s)
                      c.value[r][s] += a_frag[r / V].value[r % V] * b_frag[s / V].value[s % V];
                  }
                },
                sum);
            slot = 1 - slot;
            if (more) store(slot);
          }
          g.parallel_for_work_item(
              [=](keramos::h_item it, fragment<T, R, R>& c) {
                const int warp = it.linear / 32, lane = it.linear % 32;
                const index_t i0 = m0 + warp / warps_n * lanes_m * R, j0 = n0 + warp % warps_n * lanes_n * R;
                KERAMOS_UNROLL
                for (int r = 0; r < R; ++r) KERAMOS_UNROLL
                for (int s = 0; s < R; ++s) {
                  const index_t i = i0 + run_start<T, lanes_m>(lane / lanes_n, r / V) + r % V;
                  const index_t j = j0 + run_start<T, lanes_n>(lane % lanes_n, s / V) + s % V;
                  if (i < m && j < n) C(i, j) = c.value[r][s];
                }
              },
              sum);
        });
  }
};

}  // namespace keramos::perf::ladder

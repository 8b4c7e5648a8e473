// Step 9: the machine's matrix units, through the library's accumulators: a warp hands whole fragments to an
// instruction. On NVIDIA GPUs that is f64, in IEEE arithmetic; where there is none the row is left out.
#pragma once

#include <string>

#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/warp_mma.hpp>
#include <keramos/gemm/epilogue.hpp>

#include "8_vectorized.hpp"
#include "measure/core/problem.hpp"
#include "measure/device/machine_queue.hpp"

namespace keramos::perf::ladder {

// A k-tile in local memory as accumulators read it: element (mn, k).
template <class T, int Stride>
struct panel {
  const T* data;
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k) const { return data + mn * Stride + k; }
};

template <class T, int Stride>
struct panels {
  panel<T, Stride> a, b;
};

// An accumulator that can be a private value: each item replaces it by that of its place in the warp.
template <class Accumulator>
struct held : Accumulator {
  KERAMOS_FORCEINLINE_FUNCTION held() : Accumulator(0) {}
  KERAMOS_FORCEINLINE_FUNCTION explicit held(int thread) : Accumulator(thread) {}
};

struct tensor_cores {
  static constexpr const char* name = "tensor_cores";
  static constexpr bool transposed_b = false, beside = false;
  static constexpr const char* why =
      "a warp multiplies 16x8 fragments in one instruction of the tensor cores: twice the rate of the other "
      "units, and far fewer instructions";

  using mma = backend::mma<keramos::default_execution_space>;
  static constexpr tiling::config config{{64, 64, 8}, {32, 32, 8}, {16, 8, 8},
                                         2,           1,           tiling::math_unit::matrix};

  template <class T>
  static constexpr bool exists = mma::template has_matrix_unit<T>;

  template <class T>
  static std::string cannot(const gemm_case&) {
    return exists<T> && mma::matrix_unit_works(machine_queue().execution_space())
               ? ""
               : "this device has no matrix units for the type";
  }

  template <class T, int Width>
  static constexpr tiling::shape block() {
    return config.block;
  }
  template <class T, int Width>
  static double elements(double m, double n, double k) {
    return elements_moved(m, n, k, config.block.m, config.block.n);
  }

  template <class T, int Width>
  static void run(keramos::queue& q, const operands<T>& x) {
    if constexpr (exists<T>) multiply<keramos::default_execution_space>(q, x);
  }

  template <class Exec, class T>
  static void multiply(keramos::queue& q, const operands<T>& x) {
    using accumulator = held<detail::simt::warp_mma_accumulator<detail::types_of<T>, config, Exec>>;
    constexpr int block = config.block.m, depth = config.block.k, items = 32 * config.warps();
    constexpr int loads = block * depth / items,
                  stride = depth + 4;  // padded: a fragment's rows in all banks
    using k_tile = staged<T, loads>;
    using slots = keramos::local_array<T, 2, block, stride>;  // (slot, m or n, k)
    using wg = keramos::group<keramos::local_range<items>, keramos::local_memory<slots, slots>>;
    const auto A = x.a, B = x.b;
    const gemm_problem<detail::types_of<T>> problem{
        {A.data(), x.k, 1}, {B.data(), 1, x.n}, x.c.data(), x.n, 1, x.m, x.n, x.k};
    const index_t m = x.m, n = x.n, k = x.k, blocks_n = ceil_div(n, block);
    q.parallel_for_work_group<wg>(
        "ladder::tensor_cores", keramos::range{ceil_div(m, block) * blocks_n}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();
          auto b = g.template local<1>();
          auto sum = g.make_private(accumulator());
          auto next = g.make_private(k_tile());
          const index_t m0 = g.get_group_id(0) / blocks_n * block, n0 = g.get_group_id(0) % blocks_n * block;
          g.parallel_for_work_item([=](keramos::h_item it, accumulator& c) { c = accumulator(it.linear); },
                                   sum);
          const auto load = [&](index_t k0) {
            g.parallel_for_work_item(
                [=](keramos::h_item it, k_tile& to) {
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * items, i = e / depth, j = e % block;
                    const int pa = e % depth, pb = e / block;
                    to.a[s] = m0 + i < m && k0 + pa < k ? A(m0 + i, k0 + pa) : T(0);
                    to.b[s] = k0 + pb < k && n0 + j < n ? B(k0 + pb, n0 + j) : T(0);
                  }
                },
                next);
          };
          const auto store = [&](int slot) {
            g.parallel_for_work_item(
                [=](keramos::h_item it, k_tile& from) {
                  KERAMOS_UNROLL
                  for (int s = 0; s < loads; ++s) {
                    const int e = it.linear + s * items;
                    a(slot, e / depth, e % depth) = from.a[s];
                    b(slot, e % block, e / block) = from.b[s];
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
                [=](keramos::h_item, accumulator& c) {
                  const panels<T, stride> now{{&a(slot, 0, 0)}, {&b(slot, 0, 0)}};
                  c.start(now);
                  c.multiply(now, [&] { return now; });
                },
                sum);
            slot = 1 - slot;
            if (more) store(slot);
          }
          g.parallel_for_work_item(
              [=](keramos::h_item, accumulator& c) {
                const tiling::position at{
                    m0, n0, 0, k, int(m - m0 < block ? m - m0 : block), int(n - n0 < block ? n - n0 : block)};
                c.write(problem, at, keramos::detail::linear_epilogue<T>{T(1), T(0)});
              },
              sum);
        });
  }
};

}  // namespace keramos::perf::ladder

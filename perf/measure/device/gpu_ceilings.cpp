// A GPU's ceilings, by kernels in Keramos' own terms.
#include <algorithm>
#include <cstdint>
#include <keramos/enabled_backends.hpp>
#include <keramos/gemm/collective/warp_mma.hpp>
#include <keramos/gemm/epilogue.hpp>
#include <keramos/gemm/problem.hpp>
#include <keramos/tile/shape.hpp>

#include "ceilings.hpp"
#include "machine_queue.hpp"

namespace keramos::perf {
namespace {

using memory_space = keramos::default_execution_space::memory_space;

struct alignas(16) quad {
  std::uint32_t value[4];
};
using quads = Kokkos::View<quad*, memory_space>;

// A value that the compiler cannot know: kernels of known constants would be computed when compiling.
template <class T>
T opaque(T value) {
  volatile T hidden = value;
  return hidden;
}

// The best of several runs, after one that does not count.
template <class F>
double best_seconds(const F& f) {
  double best = 0;
  for (int i = 0; i < 6; ++i) {
    const double seconds = seconds_on_queue(f);
    if (i > 0) best = i == 1 ? seconds : std::min(best, seconds);
  }
  return best;
}

double copy_rate() {
  const index_t count = index_t(1) << 26;  // 1 GiB
  const quads from(Kokkos::view_alloc("from", Kokkos::WithoutInitializing), count);
  const quads to(Kokkos::view_alloc("to", Kokkos::WithoutInitializing), count);
  Kokkos::deep_copy(machine_queue().execution_space(), from, quad{});
  const double seconds = best_seconds([&] {
    machine_queue().parallel_for(
        "perf::copy", range{count}, KERAMOS_LAMBDA(index_t i) { to(i) = from(i); });
  });
  return 2.0 * double(count) * sizeof(quad) / seconds;
}

// Reads of `set` elements, a power of two, again and again by all items.
double read_rate(index_t set, index_t items) {
  const quads data("data", set);
  const Kokkos::View<std::uint32_t*, memory_space> sink("sink", 1);
  int rounds = opaque(256);
  const index_t mask = set - 1;
  // From round to round an eighth of the set on: where it is large, no other item of the unit was there lately.
  const index_t step = set / 8 + 32;
  const double seconds = best_seconds([&] {
    machine_queue().parallel_for(
        "perf::read", range{items}, KERAMOS_LAMBDA(index_t i) {
          std::uint32_t sum = 0;
          for (int r = 0; r < rounds; r += 4) {
            KERAMOS_UNROLL
            for (int u = 0; u < 4; ++u) {
              const quad q = data((i + (r + u) * step) & mask);
              sum += q.value[0] ^ q.value[1] ^ q.value[2] ^ q.value[3];
            }
          }
          if (sum == 1) sink(0) = sum;  // the data are zeros, which the compiler does not know
        });
  });
  return double(items) * rounds * sizeof(quad) / seconds;
}

template <class T>
double multiply_add_rate(index_t items) {
  const Kokkos::View<T*, memory_space> sink("sink", 1);
  constexpr int chains = 8;
  int rounds = opaque(4096);
  T factor = opaque(T(1)), addend = opaque(T(0)), never = opaque(T(77));
  const double seconds = best_seconds([&] {
    machine_queue().parallel_for(
        "perf::multiply_add", range{items}, KERAMOS_LAMBDA(index_t i) {
          T sum[chains];
          KERAMOS_UNROLL
          for (int c = 0; c < chains; ++c) sum[c] = T(i % 7 + c);
          for (int r = 0; r < rounds; r += 8) {
            KERAMOS_UNROLL
            for (int u = 0; u < 8; ++u) KERAMOS_UNROLL
            for (int c = 0; c < chains; ++c) sum[c] = sum[c] * factor + addend;
          }
          KERAMOS_UNROLL
          for (int c = 1; c < chains; ++c) sum[0] += sum[c];
          if (sum[0] == never) sink(0) = sum[0];
        });
  });
  return 2.0 * double(items) * rounds * chains / seconds;
}

using mma = backend::mma<keramos::default_execution_space>;

/// As a template of its own, since nvcc 13 writes that of mma without its argument.
template <class Mma>
constexpr bool has_unit_of_f64 = Mma::template has_matrix_unit<double>;
constexpr tiling::config matrix_config{{64, 64, 8}, {32, 32, 8}, {16, 8, 8}, 1, 3, tiling::math_unit::matrix};

template <class T, int Stride>
struct panel {
  const T* data;
  KERAMOS_FORCEINLINE_FUNCTION const T* at(int mn, int k) const { return data + mn * Stride + k; }
};
template <class T, int Stride>
struct panel_pair {
  panel<T, Stride> a, b;
};
template <class Accumulator>
struct held : Accumulator {
  KERAMOS_FORCEINLINE_FUNCTION held() : Accumulator(0) {}
  KERAMOS_FORCEINLINE_FUNCTION explicit held(int thread) : Accumulator(thread) {}
};

// The library's multiply over panels that stay in local memory: what it reaches without any traffic.
template <class Exec, class T>
double matrix_rate(int units) {
  using accumulator = held<detail::simt::warp_mma_accumulator<detail::types_of<T>, matrix_config, Exec>>;
  constexpr int block = matrix_config.block.m, depth = matrix_config.block.k, stride = depth + 4;
  constexpr int items = 32 * matrix_config.warps();
  using k_tile = keramos::local_array<T, block, stride>;
  using wg = keramos::group<keramos::local_range<items>, keramos::local_memory<k_tile, k_tile>>;
  const Kokkos::View<T**, Kokkos::LayoutRight, memory_space> sink("sink", block, block);
  const gemm_problem<detail::types_of<T>> problem{{nullptr, 0, 0}, {nullptr, 0, 0}, sink.data(), block, 1,
                                                  block,           block,           depth};
  int rounds = opaque(2048);
  const int groups = units * 12;
  const double seconds = best_seconds([&] {
    machine_queue().parallel_for_work_group<wg>(
        "perf::matrix", range{groups}, KERAMOS_LAMBDA(wg & g) {
          auto a = g.template local<0>();
          auto b = g.template local<1>();
          auto sum = g.make_private(accumulator());
          const bool writes = rounds < 0;  // never, which the compiler does not know
          g.parallel_for_work_item(
              [=](keramos::h_item it, accumulator& c) {
                for (int e = it.linear; e < block * depth; e += items) {
                  a(e / depth, e % depth) = T(0);
                  b(e / depth, e % depth) = T(0);
                }
                c = accumulator(it.linear);
              },
              sum);
          g.barrier();
          g.parallel_for_work_item(
              [=](keramos::h_item, accumulator& c) {
                const panel_pair<T, stride> now{{&a(0, 0)}, {&b(0, 0)}};
                c.start(now);
                for (int r = 0; r < rounds; ++r) c.multiply(now, [&] { return now; });
                const tiling::position at{0, 0, 0, depth, block, block};
                if (writes) c.write(problem, at, keramos::detail::linear_epilogue<T>{T(1), T(0)});
              },
              sum);
        });
  });
  return 2.0 * block * block * depth * double(rounds) * groups / seconds;
}

}  // namespace

device_spec measure_ceilings(const device_description& device) {
  device_spec spec;
  spec.name = device.name;
  spec.kind = "gpu";
  spec.units = device.units;
  spec.clock_ghz = device.clock_hz * 1e-9;
  const index_t items = index_t(device.units) * 2048 * 4;
  spec.bandwidth_gbs.push_back({"memory", 1e-9 * copy_rate()});
  const auto half = index_t(device_cache_bytes() / sizeof(quad) / 2);
  index_t set = 1;
  while (2 * set <= half) set *= 2;
  spec.bandwidth_gbs.push_back({"L2", 1e-9 * read_rate(set, items)});
  spec.bandwidth_gbs.push_back({"L1", 1e-9 * read_rate(8192 / sizeof(quad), items)});
  spec.peak_gflops.push_back({"f32", 1e-9 * multiply_add_rate<float>(items)});
  spec.peak_gflops.push_back({"f64", 1e-9 * multiply_add_rate<double>(items)});
  spec.peak_gflops.push_back({"i32", 1e-9 * multiply_add_rate<std::uint32_t>(items)});
  if constexpr (has_unit_of_f64<mma>) {
    if (mma::matrix_unit_works(machine_queue().execution_space()))
      spec.matrix_peak_gflops.push_back(
          {"f64", 1e-9 * matrix_rate<keramos::default_execution_space, double>(device.units)});
  }
  spec.sources.push_back(
      "measured by keramos-perf roofline: copy of 1 GiB, reads of half the L2 cache and of 8 KiB by all, "
      "multiply-adds in registers, the backend's multiply on panels in local memory");
  return spec;
}

}  // namespace keramos::perf

// What GEMM promises on CUDA alone: stream capture, and streams that overlap.
#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/kernel/pack.hpp>
#include <keramos/gemm/reference.hpp>
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using cuda_queue = basic_queue<Kokkos::Cuda>;
using view = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::Cuda>;

void fill(const view& v, double scale) {
  auto h = Kokkos::create_mirror_view(v);
  for (std::size_t i = 0; i < h.extent(0); ++i)
    for (std::size_t j = 0; j < h.extent(1); ++j) h(i, j) = scale * double((i * 37 + j * 11) % 101) / 101;
  Kokkos::deep_copy(v, h);
}

std::vector<double> on_host(const view& v) {
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
  return {h.data(), h.data() + h.size()};
}

#define SUCCEED_CUDA(call) ASSERT_EQ((call), cudaSuccess) << #call

/// The plan of a square product, of memory that a plan does not read.
template <class A, class B, class C>
gemm_part large_part(index_t n, gemm_compute compute = gemm_compute::standard) {
  const auto matrix = [=]<class T>(T*, std::uintptr_t number) {
    return matrix_view<T>{reinterpret_cast<T*>(number << 40), n, n, n, 1};
  };
  cuda_queue q;
  const auto a = matrix(static_cast<A*>(nullptr), 1);
  const auto b = matrix(static_cast<B*>(nullptr), 2);
  const auto c = matrix(static_cast<C*>(nullptr), 3);
  return plan_gemm(q, a, b, c, {.op_b = op::T, .compute = compute}).parts[0];
}
// Other tests pass over tiles that a device does not have. These it must have.
TEST(GemmCuda, LargeProductsAreByWarpgroupsWhereThereAreSome) {
  cuda_queue q;
  const auto& device = q.execution_space().cuda_device_prop();
  const bool are_there =
#if defined(KERAMOS_CUDA_WIDE_SCRATCH)
      device.major == 9 && device.minor == 0 && q.device().local_memory_bytes >= 198 * 1024;
#else
      false;
#endif
  if (!are_there)
    GTEST_SKIP() << "compute capability " << device.major << '.' << device.minor
                 << ", or less than 198 KB of scratch";
  const auto is_by_warpgroups = [](const gemm_part& part) {
    return part.path == gemm_path::tiled && part.math == tiling::math_unit::warpgroup;
  };
  EXPECT_TRUE(is_by_warpgroups(large_part<float16, float16, float16>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<bfloat16, bfloat16, bfloat16>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<bfloat16, bfloat16, float>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<std::int8_t, std::int8_t, std::int32_t>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<std::uint8_t, std::int8_t, std::int8_t>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<float8_e4m3, float8_e5m2, bfloat16>(4096)));
  EXPECT_TRUE(is_by_warpgroups(large_part<float, float, float>(4096, gemm_compute::tf32)));
  EXPECT_TRUE(is_by_warpgroups(large_part<float, float, float>(4096, gemm_compute::f32_emulated)));
  const gemm_part of_f64 = large_part<double, double, double>(12000, gemm_compute::f64_emulated);
  EXPECT_EQ(of_f64.path, gemm_path::residues);
}

// Choices are remembered, by all that they depend on: here by rows of B, which decide how a strip is done.
TEST(GemmCuda, APlanDoesNotDependOnEarlierOnes) {
  constexpr index_t m = 2080, n = 8200;
  const auto matrix = [](std::uintptr_t number, index_t rows, index_t cols, index_t row_stride,
                         index_t col_stride) {
    return matrix_view<float>{reinterpret_cast<float*>(number << 40), rows, cols, row_stride, col_stride};
  };
  for (const index_t k : {1024, 4096}) {
    const auto plan = [&](index_t ld_of_b) {
      cuda_queue q;
      return plan_gemm(q, matrix(1, m, k, 1, m), matrix(2, k, n, ld_of_b, 1), matrix(3, m, n, n, 1),
                       {.compute = gemm_compute::tf32});
    };
    const auto last_plan =
        [&](std::initializer_list<index_t> lds_of_b) {  // of a thread that remembers nothing
          gemm_plan last;
          std::thread([&] {
            for (const index_t ld : lds_of_b) last = plan(ld);
          }).join();
          return last;
        };
    EXPECT_EQ(last_plan({8209}), last_plan({8208, 8209})) << "k = " << k;
    EXPECT_EQ(last_plan({8208}), last_plan({8209, 8208})) << "k = " << k;
  }
}

// Whole tiles, divided k, a vector and a scaling, captured once and run again on other data; the queue's
// memory grows meanwhile, which must not take it from the graph.
TEST(GemmCuda, CanBeCapturedInAGraph) {
  cudaStream_t stream;
  SUCCEED_CUDA(cudaStreamCreate(&stream));
  {
    cuda_queue q{Kokkos::Cuda(stream)};
    const int sizes[][3] = {{300, 300, 300}, {64, 64, 5000}, {500, 1, 4000}};
    std::vector<view> a, b, c;
    for (const auto& s : sizes) {
      a.emplace_back("a", s[0], s[2]), b.emplace_back("b", s[2], s[1]), c.emplace_back("c", s[0], s[1]);
      fill(a.back(), 1), fill(b.back(), 1);
    }
    // Three problems of 100 x 100 x 300: rows of the first A by columns of the first B.
    c.emplace_back("c", 300, 100);
    const batched_matrix_view<double> rows_of_a{a[0].data(), 3, 100, 300, 100 * 300, 300, 1},
        columns_of_b{b[0].data(), 3, 300, 100, 100, 300, 1},
        blocks_of_c{c.back().data(), 3, 100, 100, 100 * 100, 100, 1};
    const auto multiply = [&] {
      for (std::size_t i = 0; i < a.size(); ++i) gemm(q, 2, a[i], b[i], 0, c[i]);
      gemm(q, 0, a[0], b[0], 0.5, c[0]);
      gemm_batched(q, 2, rows_of_a, columns_of_b, 0, blocks_of_c);
    };
    const std::vector<view> list_of_a{a[1], a[2]}, list_of_b{b[1], b[2]}, list_of_c{c[1], c[2]};
    const auto multiply_list = [&] { gemm_batched(q, 2, list_of_a, list_of_b, 0, list_of_c); };
    multiply();  // the queue's memory grows
    multiply_list();
    q.wait();

    cudaGraph_t graph;
    cudaGraphExec_t runnable;
    SUCCEED_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    multiply();
    EXPECT_THROW(multiply_list(), invalid_argument);
    SUCCEED_CUDA(cudaStreamEndCapture(stream, &graph));
    std::size_t nodes = 0;
    SUCCEED_CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    EXPECT_EQ(nodes, 5u);  // kernels, and nothing else
    multiply_list();       // as before
    SUCCEED_CUDA(cudaGraphInstantiate(&runnable, graph, 0));

    const view large_a("a", 128, 60000), large_b("b", 60000, 128), large_c("c", 128, 128);
    gemm(q, 1, large_a, large_b, 0, large_c).wait();
    for (const double scale : {1.0, -3.0}) {
      for (const view& x : a) fill(x, scale);
      multiply();
      q.wait();
      std::vector<std::vector<double>> expected;
      for (const view& x : c) expected.push_back(on_host(x)), Kokkos::deep_copy(x, 7.0);
      Kokkos::fence();
      SUCCEED_CUDA(cudaGraphLaunch(runnable, stream));
      SUCCEED_CUDA(cudaStreamSynchronize(stream));
      for (std::size_t i = 0; i < c.size(); ++i) {
        const auto got = on_host(c[i]);
        EXPECT_EQ(std::memcmp(got.data(), expected[i].data(), got.size() * sizeof(double)), 0) << i;
      }
    }
    SUCCEED_CUDA(cudaGraphExecDestroy(runnable));
    SUCCEED_CUDA(cudaGraphDestroy(graph));
  }
  SUCCEED_CUDA(cudaStreamDestroy(stream));
}

/// Small whole numbers, so that every sum is exact in whatever order.
struct whole_numbers {
  Kokkos::View<double*, Kokkos::Cuda> device;
  index_t pitch;
  std::vector<double> host;

  whole_numbers(int rows, int cols, index_t gap, int salt)
      : device("whole_numbers", rows * (cols + gap) + 1), pitch(cols + gap), host(device.extent(0)) {
    for (std::size_t i = 0; i < host.size(); ++i) host[i] = int((i * 7919 + i / 13 * 31 + salt) % 17) - 8;
    Kokkos::deep_copy(device, Kokkos::View<double*, Kokkos::HostSpace>(host.data(), host.size()));
  }
  matrix_view<const double> matrix(int rows, int cols) const {
    return {device.data() + 1, rows, cols, pitch, 1};
  }
  reference::operand<double> applied(bool transposed) const {
    return {host.data() + 1, transposed ? 1 : pitch, transposed ? pitch : 1};
  }
};

/// Some elements of C = op(A)·op(B), recomputed.
void expect_product(const whole_numbers& a, bool ta, const whole_numbers& b, bool tb, int k, const view& c) {
  const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (std::size_t i = 0; i < c.extent(0); i += 1 + i % 97)
    for (std::size_t j = 0; j < c.extent(1); j += 1 + j % 89) {
      const auto sum = reference::product_element(a.applied(ta), b.applied(tb), i, j, k);
      ASSERT_EQ(h(i, j), double(sum.value)) << i << ' ' << j;
    }
}

// Large products copy operands that lie badly before they multiply; in bands, if that takes too much memory.
TEST(GemmCuda, OperandsThatAreCopiedFirst) {
  const int m = 1601, n = 1700, k = 611;
  cuda_queue q;
  detail::workspace<Kokkos::Cuda> copies;
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const whole_numbers a(ta ? k : m, ta ? m : k, 3, 1), b(tb ? n : k, tb ? k : n, 2, 5);
      const view c("c", m, n);
      gemm(q, 1, a.matrix(ta ? k : m, ta ? m : k), b.matrix(tb ? n : k, tb ? k : n), 0, c,
           {.op_a = ta ? op::T : op::N, .op_b = tb ? op::T : op::N});
      q.wait();
      expect_product(a, ta, b, tb, k, c);

      const gemm_problem<types::f64> p{{a.device.data() + 1, ta ? 1 : a.pitch, ta ? a.pitch : 1},
                                       {b.device.data() + 1, tb ? b.pitch : 1, tb ? 1 : b.pitch},
                                       c.data(),
                                       n,
                                       1,
                                       m,
                                       n,
                                       k};
      gemm_part packed;
      auto device = backend::tiles<Kokkos::Cuda>::model(q.execution_space());
      device.most_packed_bytes = std::size_t(8) << 20;
      detail::simt::choose_packing(p, !ta, false, tb, false, false, device, packed);
      ASSERT_TRUE(packed.pack_a && packed.pack_b && packed.band_m < m && packed.band_n < n);
      for (const auto along : {tiling::direction::mn, tiling::direction::k}) {
        Kokkos::deep_copy(c, 7.0);
        Kokkos::fence();
        int bands = 0;
        detail::simt::with_packed(
            q.execution_space(), copies, p, packed, along, 0,
            [&](const gemm_problem<types::f64>&, const gemm_problem<types::f64>& part, std::size_t) {
              ++bands;
              const matrix_view<const double> x{part.a.data, part.m, part.k, part.a.stride_mn,
                                                part.a.stride_k};
              const matrix_view<const double> y{part.b.data, part.k, part.n, part.b.stride_k,
                                                part.b.stride_mn};
              gemm(q, 1, x, y, 0,
                   matrix_view<double>{part.c, part.m, part.n, part.c_row_stride, part.c_col_stride});
            });
        EXPECT_EQ(bands, 4);
        q.wait();
        expect_product(a, ta, b, tb, k, c);
      }
    }
}

// Sums of parts of k lie behind what is packed, in the same memory; a second product finds its counters as the first did.
TEST(GemmCuda, PackedOperandsAndADividedK) {
  const int m = 67, n = 75, k = 3001;
  cuda_queue q;
  const whole_numbers a(m, k, 3, 1), b(k, n, 2, 5);
  const view c("c", m, n);
  gemm_options options{.block = tiling::shape{64, 32, 16}};
  gemm_plan plan = plan_gemm(q, a.matrix(m, k), b.matrix(k, n), c, options);
  ASSERT_EQ(plan.size, 1);
  gemm_part& part = plan.parts[0];
  part.pack_a = part.pack_b = true, part.band_m = m, part.band_n = n;
  for (const int whole_tiles : {0, 0, 4}) {
    part.split = {7, 4, 432, whole_tiles};
    Kokkos::deep_copy(c, 7.0);
    Kokkos::fence();
    gemm(q, 1, a.matrix(m, k), b.matrix(k, n), 0, c, {.plan = plan});
    q.wait();
    expect_product(a, false, b, false, k, c);
  }
}

// The library's own choice of whole tiles, of which some extents leave a few over on any device.
TEST(GemmCuda, FewTilesBehindFullWavesAreDivided) {
  const int most = 4096, k = 1500;
  cuda_queue q;
  const whole_numbers a(most, k, 0, 1), b(k, most, 0, 5);
  const view all("c", most, most);
  for (int n = 512; n <= most; n += 64) {
    const auto c = Kokkos::subview(all, std::pair(0, n), std::pair(0, n));
    const matrix_view<double> to{c.data(), n, n, most, 1};
    const gemm_plan plan = plan_gemm(q, a.matrix(n, k), b.matrix(k, n), to);
    if (plan.size > 1 || plan.parts[0].split.whole_tiles == 0) continue;
    EXPECT_GT(plan.parts[0].split.parts, 1);
    Kokkos::deep_copy(all, 7.0);
    Kokkos::fence();
    gemm(q, 1, a.matrix(n, k), b.matrix(k, n), 0, to);
    q.wait();
    const view packed("packed", n, n);
    Kokkos::deep_copy(packed, c);
    expect_product(a, false, b, false, k, packed);
    return;
  }
  ADD_FAILURE() << "no extent up to " << most << " has whole tiles and divided ones";
}

/// Products of n x k and k x n whole numbers, n up to `most`: sums are exact, and another tile is the judge.
template <class T>
class judged_products {
 public:
  judged_products(int most, int k)
      : k_(k), a_("a", most, k), b_("b", k, most), c_("c", most, most), expected_("expected", most, most) {
    const auto a = Kokkos::create_mirror_view(a_), b = Kokkos::create_mirror_view(b_);
    for (int i = 0; i < most * k; ++i) a.data()[i] = T(i * 7 % 13 - 6), b.data()[i] = T(i * 5 % 11 - 5);
    Kokkos::deep_copy(a_, a);
    Kokkos::deep_copy(b_, b);
  }
  gemm_plan plan(int n) { return plan_gemm(q_, part(a_, n, k_), part(b_, k_, n), part(c_, n, n)); }
  void expect_as_in(const tiling::shape& judge, int n) {
    Kokkos::deep_copy(c_, T(7));
    Kokkos::deep_copy(expected_, T(7));
    Kokkos::fence();
    gemm(q_, 1, part(a_, n, k_), part(b_, k_, n), 3, part(c_, n, n));
    gemm(q_, 1, part(a_, n, k_), part(b_, k_, n), 3, part(expected_, n, n), {.block = judge});
    q_.wait();
    const auto got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c_);
    const auto wanted = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), expected_);
    EXPECT_TRUE(std::equal(got.data(), got.data() + got.size(), wanted.data())) << to_string(plan(n));
  }

 private:
  using matrix = Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::Cuda>;
  static matrix_view<T> part(const matrix& x, int rows, int cols) {
    return {x.data(), rows, cols, index_t(x.stride(0)), 1};
  }

  cuda_queue q_;
  int k_;
  matrix a_, b_, c_, expected_;
};

// Of f64, whose largest tiles do not divide k.
TEST(GemmCuda, FewTilesBehindFullWavesAreAnotherPart) {
  judged_products<double> products(4096, 900);
  for (int n = 512; n <= 4096; n += 64) {
    const gemm_plan plan = products.plan(n);
    if (plan.parts[0].corner_n == 0) continue;
    EXPECT_EQ(plan.size, 2) << to_string(plan);
    return products.expect_as_in({64, 32, 16}, n);
  }
  ADD_FAILURE() << "no extent up to 4096 is planned so";
}

// The row of large tiles that stores sums one by one, with whole tiles before divided ones and without, and with what is packed.
TEST(GemmCuda, LargeTilesOfFloatsDivideK) {
  judged_products<float> products(2048, 1100);
  std::set<std::pair<bool, bool>> seen;  // (whole tiles, packed)
  for (int n = 512; n <= 2048; n += 64) {
    const gemm_part part = products.plan(n).parts[0];
    if (part.block != tiling::shape{128, 128, 16} || part.split.parts == 1) continue;
    if (seen.emplace(part.split.whole_tiles > 0, part.pack_a || part.pack_b).second)
      products.expect_as_in({64, 64, 16}, n);
  }
  EXPECT_GT(seen.size(), 0u) << "no extent up to 2048 is planned so";
}

/// Runs until `flag` is set, or for seconds, and notes whether it was.
struct wait_for_flag {
  int *flag, *was_set;
  KERAMOS_FUNCTION void operator()(index_t) const {
    for (int i = 0; i < 5'000'000 && *was_set == 0; ++i) *was_set = Kokkos::atomic_fetch_add(flag, 0);
  }
};
struct set_flag {
  int* flag;
  KERAMOS_FUNCTION void operator()(index_t) const { Kokkos::atomic_fetch_add(flag, 1); }
};

// What follows a product on one queue ends a kernel on another, which was queued before: were they to wait for each
// other, in the library or on the device, the kernel would give up.
TEST(GemmCuda, TwoQueuesOverlap) {
  const int n = 256, k = 2048;
  cuda_queue q({.own_instance = true}), r({.own_instance = true});
  using matrix = Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::Cuda>;
  const matrix a("a", n, k), b("b", k, n), c("c", n, n);
  const Kokkos::View<int*, Kokkos::Cuda> flags("flags", 2);
  const auto run = [&](cuda_queue& second) {
    Kokkos::deep_copy(flags, 0);
    Kokkos::fence();
    q.parallel_for("wait_for_flag", range{1}, wait_for_flag{flags.data(), flags.data() + 1});
    gemm(second, 1, a, b, 0, c);
    second.parallel_for("set_flag", range{1}, set_flag{flags.data()});
    q.wait(), second.wait();
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), flags)(1);
  };
  // The queue's memory grows, and CUDA loads a kernel when it is first launched: both may wait for all work.
  gemm(r, 1, a, b, 0, c);
  r.parallel_for("set_flag", range{1}, set_flag{flags.data()}).wait();
  EXPECT_EQ(run(r), 1);
  EXPECT_EQ(run(q), 0) << "what is queued on one queue must be done in order";
}

}  // namespace

#endif

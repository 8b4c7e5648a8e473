// Products of sixteen-bit elements: sums in f32, results in the elements' type or in f32.
#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "batched_case.hpp"
#include "gemm_case.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class Pair>
class GemmHalves : public testing::Test {
 public:
  using element = typename Pair::first_type;
  using result = typename Pair::second_type;
};
using element_pairs = testing::Types<std::pair<float16, float16>, std::pair<float16, float>,
                                     std::pair<bfloat16, bfloat16>, std::pair<bfloat16, float>>;
TYPED_TEST_SUITE(GemmHalves, element_pairs);

#define EXPECT_PRODUCT(...) \
  EXPECT_TRUE((run<typename TestFixture::element, typename TestFixture::result>(__VA_ARGS__)))

TYPED_TEST(GemmHalves, SizesAndOps) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},     {7, 5, 3},    {16, 16, 16},  {33, 65, 17},  {128, 128, 64},
                              {129, 63, 77}, {1, 200, 90}, {200, 1, 333}, {300, 257, 40}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::C})
        EXPECT_PRODUCT(
            gemm_case{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .alpha = 1.5, .beta = double(rng() % 2)},
            rng());
}

TYPED_TEST(GemmHalves, EveryOpAndLayout) {
  every_op_and_layout<typename TestFixture::element, typename TestFixture::result>();
}

TYPED_TEST(GemmHalves, RandomLayoutsAndScalars) {
  std::mt19937_64 rng(fresh_seed());
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  const double scalars[] = {0, 1, -1, 0.75};
  for (int i = 0; i < 60; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 150), .n = index_t(1 + rng() % 150), .k = index_t(rng() % 200)};
    g.op_a = rng() % 2 ? op::T : op::N, g.op_b = rng() % 2 ? op::T : op::N;
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = index_t(rng() % 9), g.offset = index_t(rng() % 9);
    g.alpha = scalars[rng() % 4], g.beta = scalars[rng() % 4];
    EXPECT_PRODUCT(g, rng());
  }
}

// Few elements of C and a long k, which GPUs divide; a row, and a column.
TYPED_TEST(GemmHalves, LongK) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{20, 30, 20000}, {1, 40, 5000}, {40, 1, 5000}};
  for (const auto& [m, n, k] : sizes) EXPECT_PRODUCT(gemm_case{.m = m, .n = n, .k = k, .beta = 0.5}, rng());
}

TYPED_TEST(GemmHalves, PackedBeforehandAndCut) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T}) {
        gemm_case g{.m = 200, .n = 150, .k = 70, .op_a = a, .op_b = b, .gap = gap, .offset = gap, .beta = 1};
        // Of elements that are packed in pairs one is left in each k-tile of seven.
        g.change_plan = [gap](gemm_plan& plan) { pack_and_cut(plan, gap > 0 ? 7 : 0); };
        EXPECT_PRODUCT(g, rng());
      }
}

TYPED_TEST(GemmHalves, Lists) {
  EXPECT_TRUE((run_list<typename TestFixture::element, typename TestFixture::result>(op::N, fresh_seed())));
}

// Hosts multiply elements where they lie only if sums are of their type.
TYPED_TEST(GemmHalves, PlansThatMultiplyInPlaceAreRefused) {
  using T = typename TestFixture::element;
  using C = typename TestFixture::result;
  if (!on_host) return;
  const stored_matrix<T> a(9, 9, layout::right, 0, 0);
  const stored_matrix<C> c(9, 9, layout::right, 0, 0);
  queue q;
  gemm_plan plan = plan_gemm(q, a.view, a.view, c.view);
  EXPECT_EQ(plan.parts[0].path, gemm_path::tiled);
  plan.parts[0].path = gemm_path::unpacked;
  EXPECT_THROW(gemm(q, 1, a.view, a.view, 0, c.view, {.plan = plan}), invalid_argument);
}

TYPED_TEST(GemmHalves, Batches) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2, g.beta = double(size % 2);
      EXPECT_PRODUCT(g, rng());
    }
}

// Computes in float, whatever C's elements are.
struct adds_place {
  KERAMOS_FUNCTION float operator()(float acc, index_t i, index_t j, index_t) const {
    return acc + float(i % 4) - float(j % 4);
  }
};

// Tiles of warpgroups are compiled in the library alone. (Hosts have no such tiles: there the block is one like others.)
TYPED_TEST(GemmHalves, PlansForTheCallersEpilogue) {
  using T = typename TestFixture::element;
  using C = typename TestFixture::result;
  const stored_matrix<T> a(256, 256, layout::right, 0, 0);
  const stored_matrix<C> c(256, 256, layout::right, 0, 0);
  queue q;
  const gemm_plan own = plan_gemm(q, a.view, a.view, c.view, adds_place());
  gemm(q, a.view, a.view, c.view, adds_place(), {.plan = own});
  q.wait();
  gemm_plan of_library;
  try {
    of_library = plan_gemm(q, a.view, a.view, c.view, {.block = tiling::shape{128, 256, 64}});
  } catch (const launch_error&) {  // no such tile on this device
    return;
  }
  if (on_host) {
    gemm(q, a.view, a.view, c.view, adds_place(), {.plan = of_library});
    q.wait();
  } else {
    EXPECT_THROW(gemm(q, a.view, a.view, c.view, adds_place(), {.plan = of_library}), invalid_argument);
  }
}

// Products of halves are exact in f32, so sums of whole numbers are too, in any order.
TYPED_TEST(GemmHalves, WholeNumbersAreExact) {
  using T = typename TestFixture::element;
  using C = typename TestFixture::result;
  const index_t m = 70, n = 50, k = 64;
  const Kokkos::View<T**, Kokkos::LayoutRight, default_execution_space> a("a", m, k), b("b", k, n);
  const Kokkos::View<C**, Kokkos::LayoutRight, default_execution_space> c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) ha(i, p) = T(int(i + p) % 3 - 1);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) hb(p, j) = T(int(2 * p + j) % 5 - 2);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  queue q;
  gemm(q, a, b, c, epilogue::linear(0.5, 0) | adds_place());
  q.wait();
  record_support("epilogue", as_matrix(a), as_matrix(b), as_matrix(c), op::N, op::N);
  const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const float sum = float(reference::product_element(ha, hb, i, j, k).value);
      ASSERT_EQ(float(hc(i, j)), float(C(0.5f * sum + float(i % 4) - float(j % 4)))) << i << ", " << j;
    }
}

}  // namespace
}  // namespace keramos::test

// Products of integers of eight bits, with a sign or without in any mix: sums modulo 2^32, so there is one right answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>

#include "batched_case.hpp"
#include "bytes_product.hpp"
#include "gemm_case.hpp"

namespace keramos::test {
namespace {

template <class Elements>
class GemmBytes : public testing::Test {
 public:
  using a = typename Elements::a;
  using b = typename Elements::b;
  using c = typename Elements::c;
  static constexpr double unit = scale_to<c>;
};
using mixes =
    testing::Types<elements<i8, i8, i32>, elements<i8, u8, i32>, elements<u8, i8, i32>, elements<u8, u8, i32>,
                   elements<i8, i8, i8>, elements<i8, u8, u8>, elements<u8, i8, i8>, elements<u8, u8, u8>>;
TYPED_TEST_SUITE(GemmBytes, mixes);

#define EXPECT_PRODUCT(...) \
  EXPECT_TRUE((run<typename TestFixture::a, typename TestFixture::c, typename TestFixture::b>(__VA_ARGS__)))

TYPED_TEST(GemmBytes, SizesAndOps) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},    {7, 5, 3},     {16, 16, 16}, {33, 65, 17},  {128, 128, 64},
                              {64, 64, 32}, {129, 63, 77}, {1, 200, 90}, {200, 1, 333}, {300, 257, 240}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::C})
        EXPECT_PRODUCT(gemm_case{.m = m,
                                 .n = n,
                                 .k = k,
                                 .op_a = a,
                                 .op_b = b,
                                 .alpha = -3 * TestFixture::unit,
                                 .beta = double(rng() % 2)},
                       rng());
}

TYPED_TEST(GemmBytes, EveryOpAndLayout) {
  every_op_and_layout<typename TestFixture::a, typename TestFixture::c, typename TestFixture::b>();
}

TYPED_TEST(GemmBytes, RandomLayoutsAndScalars) {
  std::mt19937_64 rng(fresh_seed());
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  const double scalars[] = {0, 1, -1, 7};
  for (int i = 0; i < 80; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 200), .n = index_t(1 + rng() % 200), .k = index_t(rng() % 300)};
    g.op_a = rng() % 2 ? op::T : op::N, g.op_b = rng() % 2 ? op::T : op::N;
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    // Rows of whole sixteens of bytes as well, which GPUs copy at once.
    g.gap = i % 2 ? index_t(rng() % 20) : 16, g.offset = i % 2 ? index_t(rng() % 20) : 0;
    if (i % 4 == 0) g.m = (g.m + 15) / 16 * 16, g.n = (g.n + 15) / 16 * 16, g.k = (g.k + 15) / 16 * 16;
    g.alpha = TestFixture::unit * scalars[rng() % 4], g.beta = scalars[rng() % 4];
    EXPECT_PRODUCT(g, rng());
  }
}

// Few elements of C and a long k, which GPUs divide; a row, and a column.
TYPED_TEST(GemmBytes, LongK) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{20, 30, 20000}, {1, 40, 5000}, {40, 1, 5000}};
  for (const auto& [m, n, k] : sizes)
    EXPECT_PRODUCT(gemm_case{.m = m, .n = n, .k = k, .alpha = TestFixture::unit, .beta = 2}, rng());
}

TYPED_TEST(GemmBytes, PackedBeforehandAndCut) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : {op::N, op::T})
      for (const op b : {op::N, op::T}) {
        gemm_case g{.m = 200,
                    .n = 150,
                    .k = 70,
                    .op_a = a,
                    .op_b = b,
                    .gap = gap,
                    .offset = gap,
                    .alpha = TestFixture::unit,
                    .beta = 1};
        // Of elements that are packed in groups some are left in each k-tile of seven.
        g.change_plan = [gap](gemm_plan& plan) { pack_and_cut(plan, gap > 0 ? 7 : 0); };
        EXPECT_PRODUCT(g, rng());
      }
}

TYPED_TEST(GemmBytes, Lists) {
  EXPECT_TRUE((run_list<typename TestFixture::a, typename TestFixture::c, typename TestFixture::b>(
      op::N, fresh_seed())));
  EXPECT_TRUE((run_list<typename TestFixture::a, typename TestFixture::c, typename TestFixture::b>(
      op::T, fresh_seed() + 1)));
}

TYPED_TEST(GemmBytes, Batches) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2 * TestFixture::unit, g.beta = double(size % 2);
      EXPECT_PRODUCT(g, rng());
    }
}

// The largest numbers, whose sums pass 2^31: alpha = 1 then leaves C of eight bits its smallest or largest number.
TYPED_TEST(GemmBytes, SumsWrapAround) {
  using A = typename TestFixture::a;
  using B = typename TestFixture::b;
  using C = typename TestFixture::c;
  const index_t m = 40, n = 35, k = 140000;
  const Kokkos::View<A**, Kokkos::LayoutRight, default_execution_space> a("a", m, k);
  const Kokkos::View<B**, Kokkos::LayoutLeft, default_execution_space> b("b", k, n);
  const Kokkos::View<C**, Kokkos::LayoutRight, default_execution_space> c("c", m, n);
  const A x = std::is_signed_v<A> ? std::numeric_limits<A>::min() : std::numeric_limits<A>::max();
  const B y = std::is_signed_v<B> ? std::numeric_limits<B>::min() : std::numeric_limits<B>::max();
  Kokkos::deep_copy(a, x);
  Kokkos::deep_copy(b, y);
  queue q;
  gemm(q, 1, a, b, 0, c);
  q.wait();
  const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  const auto sum = static_cast<i32>(static_cast<std::uint32_t>(std::int64_t(x) * y * k));
  const C expected = C(std::clamp<i32>(sum, std::numeric_limits<C>::min(), std::numeric_limits<C>::max()));
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) ASSERT_EQ(hc(i, j), expected) << i << ", " << j;
}

// Computes in the type of sums, with its sign. (What computes in float, for a C of eight bits, is in quantized_test.cpp.)
struct halves_and_adds_place {
  KERAMOS_FUNCTION i32 operator()(i32 acc, index_t i, index_t j, index_t) const {
    return acc / 2 + i32(i % 4) - i32(j % 4);
  }
};

TYPED_TEST(GemmBytes, Epilogue) {
  bytes_product<typename TestFixture::a, typename TestFixture::b, i32> p(fresh_seed());
  p.run(halves_and_adds_place());
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j)
      ASSERT_EQ(p.c.at(i, j), p.sum(i, j) / 2 + i32(i % 4) - i32(j % 4)) << i << ", " << j;
}

}  // namespace
}  // namespace keramos::test

// Products of integers of eight bits, with a sign or without in any mix: sums modulo 2^32, so there is one right answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "batched_case.hpp"
#include "gemm_case.hpp"

namespace keramos::test {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;

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

/// A product with an epilogue of a test's own, and what each of its sums is.
template <class A, class B, class C>
struct small_product {
  static constexpr index_t m = 70, n = 50, k = 64;

  explicit small_product(std::uint64_t seed) {
    std::mt19937_64 rng(seed);
    a.fill_all([&] { return random_value<A>(rng); }), b.fill_all([&] { return random_value<B>(rng); });
    a.upload(), b.upload();
  }
  template <class Epilogue>
  void run(const Epilogue& epilogue) {
    queue q;
    gemm(q, a.view, b.view, c.view, epilogue);
    q.wait();
    c.download();
  }
  i32 sum(index_t i, index_t j) {
    i32 s = 0;
    for (index_t p = 0; p < k; ++p) s += i32(a.at(i, p)) * i32(b.at(p, j));
    return s;
  }

  stored_matrix<A> a{m, k, layout::right, 0, 0};
  stored_matrix<B> b{k, n, layout::right, 0, 0};
  stored_matrix<C> c{m, n, layout::left, 0, 0};
};

// Computes in the type of sums, with its sign.
struct halves_and_adds_place {
  KERAMOS_FUNCTION i32 operator()(i32 acc, index_t i, index_t j, index_t) const {
    return acc / 2 + i32(i % 4) - i32(j % 4);
  }
};

TYPED_TEST(GemmBytes, Epilogue) {
  using C = typename TestFixture::c;
  small_product<typename TestFixture::a, typename TestFixture::b, C> p(fresh_seed());
  if constexpr (!is_quantized<C>) {
    p.run(halves_and_adds_place());
    for (index_t i = 0; i < p.m; ++i)
      for (index_t j = 0; j < p.n; ++j)
        ASSERT_EQ(p.c.at(i, j), p.sum(i, j) / 2 + i32(i % 4) - i32(j % 4)) << i << ", " << j;
  } else {  // a layer of a quantised network: a scale for each row, a bias for each column, an activation
    const Kokkos::View<float*, default_execution_space> scale("scale", p.m), bias("bias", p.n);
    const auto hs = Kokkos::create_mirror_view(scale), hb = Kokkos::create_mirror_view(bias);
    for (index_t i = 0; i < p.m; ++i) hs(i) = 0x1p-9f * float(1 + i % 5);
    for (index_t j = 0; j < p.n; ++j) hb(j) = float(j % 7) - 3.25f;
    Kokkos::deep_copy(scale, hs), Kokkos::deep_copy(bias, hb);
    p.run(epilogue::scale_by_row(scale) | epilogue::bias_by_column(bias) | epilogue::relu());
    for (index_t i = 0; i < p.m; ++i)
      for (index_t j = 0; j < p.n; ++j) {
        const float x = std::max(0.f, hs(i) * float(p.sum(i, j)) + hb(j));  // exact within C's range
        ASSERT_EQ(p.c.at(i, j), C(std::rint(std::min(x, float(std::numeric_limits<C>::max())))))
            << i << ", " << j;
      }
  }
}

// What has no place in C's eight bits, what lies halfway between two integers, and C itself.
struct special_values {
  float infinity, nan;

  KERAMOS_FUNCTION float operator()(float, float c, index_t i, index_t j, index_t) const {
    switch ((i + j) % 8) {
      case 0:
        return infinity;
      case 1:
        return -infinity;
      case 2:
        return nan;
      case 3:
        return 1e9f;
      case 4:
        return 2.5f;
      case 5:
        return 3.5f;
      case 6:
        return -0.5f;
      default:
        return c;
    }
  }
};

template <class C>
void test_special_values() {
  std::mt19937_64 rng(fresh_seed());
  small_product<i8, i8, C> p(rng());
  p.c.fill_all([&] { return random_value<C>(rng); });
  p.c.upload();
  std::vector<C> old;
  for (std::size_t i = 0; i < p.c.host.extent(0); ++i) old.push_back(p.c.host(i));
  p.run(special_values{std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()});
  using limits = std::numeric_limits<C>;
  const C expected[] = {limits::max(), limits::min(), 0, limits::max(), 2, 4, 0};
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j) {
      const index_t kind = (i + j) % 8;
      ASSERT_EQ(p.c.at(i, j), kind < 7 ? expected[kind] : old[i + j * p.m]) << i << ", " << j;
    }
}
TEST(GemmQuantized, SpecialValuesWithASign) { test_special_values<i8>(); }
TEST(GemmQuantized, SpecialValuesWithoutASign) { test_special_values<u8>(); }

// beta = 0 does not read C; with alpha = 0 it is scaled and rounded, A and B unread; with beta = 1 it stays as it is.
TEST(GemmQuantized, WithoutProducts) {
  const Kokkos::View<i8**, Kokkos::LayoutRight, default_execution_space> a("a", 20, 0), b("b", 0, 30);
  const Kokkos::View<i8**, Kokkos::LayoutRight, default_execution_space> c("c", 20, 30);
  const auto all = [&](int expected) {
    const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
    for (index_t i = 0; i < 20; ++i)
      for (index_t j = 0; j < 30; ++j) ASSERT_EQ(int(hc(i, j)), expected) << i << ", " << j;
  };
  queue q;
  const auto scaled = [&](double beta) {
    Kokkos::deep_copy(c, i8(-75));
    gemm(q, 0.5, a, b, beta, c);
    q.wait();
  };
  scaled(1), all(-75);
  scaled(0.5), all(-38);  // -37.5, to the even one
  scaled(-2), all(127);
  scaled(0), all(0);
}

}  // namespace
}  // namespace keramos::test

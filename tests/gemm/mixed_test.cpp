// Products of elements of two types, each in both orders: a half and float, real and complex.
#include <gtest/gtest.h>

#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "batched_case.hpp"
#include "mixed_case.hpp"

namespace keramos::test {
namespace {

template <class Elements>
class GemmMixed : public testing::Test {};
TYPED_TEST_SUITE(GemmMixed, mixes);

constexpr op all_ops[] = {op::N, op::T, op::C};
constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
constexpr double scalars[] = {0, 1, -1, 0.75};

template <class Elements, class Case>
testing::AssertionResult run_mixed(const Case& g, std::uint64_t seed) {
  return run<typename Elements::a, typename Elements::c, typename Elements::b>(g, seed);
}

TYPED_TEST(GemmMixed, SizesAndOps) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1},     {7, 5, 3},    {16, 16, 16},  {33, 65, 17},  {128, 128, 64},
                              {129, 63, 77}, {1, 200, 90}, {200, 1, 333}, {140, 257, 40}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : all_ops)
      for (const op b : all_ops) {
        gemm_case g{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .alpha = 1.5, .beta = double(rng() % 2)};
        g.alpha_imag = 0.5, g.beta_imag = -double(rng() % 2);
        EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
      }
}

TYPED_TEST(GemmMixed, RandomLayoutsAndScalars) {
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < 80; ++i) {
    gemm_case g{.m = index_t(1 + rng() % 150), .n = index_t(1 + rng() % 150), .k = index_t(rng() % 200)};
    g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.gap = index_t(rng() % 9), g.offset = index_t(rng() % 9);
    g.alpha = scalars[rng() % 4], g.beta = scalars[rng() % 4];
    g.alpha_imag = scalars[rng() % 4], g.beta_imag = scalars[rng() % 4];
    EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
  }
}

// Several k-tiles on hosts, parts of k on GPUs; a row and a column, which only one of the orders has as vectors there.
TYPED_TEST(GemmMixed, LongK) {
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{20, 30, 5000}, {1, 40, 3000}, {40, 1, 3000}, {100, 70, 1000}};
  for (const auto& [m, n, k] : sizes)
    for (const op a : {op::N, op::C})
      for (const op b : {op::T, op::C})
        for (const layout c : {layout::right, layout::left}) {
          gemm_case g{.m = m, .n = n, .k = k, .op_a = a, .op_b = b, .c = c, .beta = 0.5, .beta_imag = 1};
          EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
        }
}

/// As pack_and_cut, but a product that is done as its transpose loses columns to a part of its own.
void cut(gemm_plan& plan) {
  const auto turn = [&] {
    for (int i = 0; i < plan.size; ++i) {
      std::swap(plan.parts[i].m, plan.parts[i].n);
      std::swap(plan.parts[i].m0, plan.parts[i].n0);
    }
  };
  const bool transposed = plan.parts[0].transposed;
  if (transposed) turn();
  pack_and_cut(plan);
  if (transposed) turn();
}

TYPED_TEST(GemmMixed, PackedBeforehandAndCut) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t gap : {0, 3})
    for (const op a : {op::N, op::C})
      for (const op b : {op::N, op::C}) {
        gemm_case g{.m = 200, .n = 150, .k = 300, .op_a = a, .op_b = b, .gap = gap, .offset = gap, .beta = 1};
        g.change_plan = cut;
        EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
      }
}

TYPED_TEST(GemmMixed, Batches) {
  std::mt19937_64 rng(fresh_seed());
  for (const index_t size : {3, 16, 33, 100})
    for (const spacing s : {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared}) {
      batched_case g{.batch = 5, .m = size, .n = size + 1, .k = size + 2};
      g.op_a = all_ops[rng() % 3], g.op_b = all_ops[rng() % 3];
      g.a = layouts[rng() % 3], g.c = layouts[rng() % 3];
      g.space_a = s, g.space_c = s == spacing::shared ? spacing::packed : s;
      g.alpha = -2, g.alpha_imag = 1, g.beta = double(size % 2);
      EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
    }
}

// What is multiplied lies one behind the other: one product of stacked rows or columns.
TYPED_TEST(GemmMixed, StackedBatches) {
  std::mt19937_64 rng(fresh_seed());
  for (const bool of_a : {true, false}) {
    batched_case g{.batch = 4, .m = 20, .n = 30, .k = 25, .alpha = 1, .beta = 1};
    (of_a ? g.space_a : g.space_b) = spacing::shared;
    g.a = g.b = g.c = of_a ? layout::left : layout::right;
    EXPECT_TRUE(run_mixed<TypeParam>(g, rng()));
  }
}

template <class T, class Batch>
auto addresses_of(const Batch& v) {
  Kokkos::View<matrix_view<T>*, default_execution_space> all("addresses", v.batch);
  auto host = Kokkos::create_mirror_view(all);
  for (index_t b = 0; b < v.batch; ++b) host(b) = v[b];
  Kokkos::deep_copy(all, host);
  return all;
}

// A's and B's alignments differ: the faster copies of one must not be taken for the other's.
TYPED_TEST(GemmMixed, ArraysOfAddresses) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  std::uint64_t seed = fresh_seed();
  for (const index_t size : {8, 32, 70})
    for (const layout l : layouts) {
      batched_case g{.batch = 7, .m = size, .n = size + 3, .k = size, .a = l, .c = l, .beta = 2};
      g.space_b = spacing::apart;
      const auto call = [&](queue& q, auto alpha, auto a, auto b, auto beta, auto c, auto options) {
        const auto av = addresses_of<A>(a);
        const auto bv = addresses_of<B>(b);
        const auto cv = addresses_of<C>(c);
        gemm_batched(q, alpha, matrix_array<A>::from(av, a[0]), matrix_array<B>::from(bv, b[0]), beta,
                     matrix_array<C>::from(cv, c[0]), options)
            .wait();
      };
      EXPECT_TRUE((run_batched<A, C, B>(g, seed++, call)));
    }
}

TYPED_TEST(GemmMixed, Lists) {
  for (const op a : {op::N, op::C})
    EXPECT_TRUE(
        (run_list<typename TypeParam::a, typename TypeParam::c, typename TypeParam::b>(a, fresh_seed())));
}

// A plan is in the caller's coordinates and says for which types it is; the way round is not to choose.
TYPED_TEST(GemmMixed, Plans) {
  using C = typename TypeParam::c;
  whole_numbers<TypeParam> x(130, 90, 40, layout::right);
  queue q;
  gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view);
  EXPECT_EQ(plan.m, 130);
  EXPECT_EQ(plan.n, 90);
  using types = detail::types_of<typename TypeParam::a, typename TypeParam::b, C>;
  EXPECT_EQ(plan.type, types::name);
  EXPECT_NE(plan.type.find('x'), std::string::npos);
  const bool in_order = types::operands.a == detail::scalar_type_of<typename TypeParam::a>::value;
  EXPECT_EQ(plan.parts[0].transposed, !in_order);
  gemm(q, 1, x.a.view, x.b.view, 0, x.c.view, {.plan = plan}).wait();
  EXPECT_TRUE(x.judge([](index_t, index_t) { return 0; }));

  plan.parts[0].transposed = in_order;
  EXPECT_THROW(gemm(q, 1, x.a.view, x.b.view, 0, x.c.view, {.plan = plan}), invalid_argument);
  plan.parts[0].transposed = !in_order;
  std::swap(plan.m, plan.n);
  EXPECT_THROW(gemm(q, 1, x.a.view, x.b.view, 0, x.c.view, {.plan = plan}), invalid_argument);
}

// An element of the half's type is every number that it is, not rounded again, and a float keeps all of its bits.
TYPED_TEST(GemmMixed, NothingIsRoundedOnTheWay) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  std::mt19937_64 rng(fresh_seed());
  stored_matrix<A> a(37, 37, layout::right, 0, 0);
  stored_matrix<B> b(37, 37, layout::left, 0, 0);
  stored_matrix<C> c(37, 37, layout::right, 0, 0);
  queue q;
  const auto check = [&](auto& unit, auto& values) {
    for (index_t i = 0; i < 37; ++i)
      for (index_t j = 0; j < 37; ++j) {
        using value = std::remove_reference_t<decltype(values.at(0, 0))>;
        using one = std::remove_reference_t<decltype(unit.at(0, 0))>;
        values.at(i, j) = random_value<value>(rng);
        unit.at(i, j) = one(i == j ? 1.0f : 0.0f);
      }
    a.upload(), b.upload();
    gemm(q, 1, a.view, b.view, 0, c.view).wait();
    c.download();
    for (index_t i = 0; i < 37; ++i)
      for (index_t j = 0; j < 37; ++j) ASSERT_EQ(c.at(i, j), C(values.at(i, j))) << i << ", " << j;
  };
  check(a, b);
  check(b, a);
}

// Kernels copy both parts of a complex number at once, and real ones one by one.
TYPED_TEST(GemmMixed, OnlyComplexNumbersAreAlignedToTheirSize) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  if constexpr (complex_like<C>) {
    using R = typename C::value_type;
    const Kokkos::View<R*, default_execution_space> memory("memory", 300);
    const auto at = [&]<class T>(std::type_identity<T>, index_t offset) {
      return batched_matrix_view<T>{reinterpret_cast<T*>(memory.data() + offset), 2, 3, 3, 9, 3, 1};
    };
    const auto a = [&](index_t offset) { return at(std::type_identity<A>(), offset); };
    const auto b = [&](index_t offset) { return at(std::type_identity<B>(), 80 + offset); };
    const auto c = at(std::type_identity<C>(), 160);
    const index_t odd_a = complex_like<A> ? 0 : 1, odd_b = 1 - odd_a;
    queue q;
    const auto lists = [&](index_t of_a, index_t of_b) {
      const std::vector av{a(of_a)[0]};
      const std::vector bv{b(of_b)[0]};
      const std::vector cv{c[0]};
      gemm_batched(q, 1, av, bv, 0, cv);
    };
    EXPECT_NO_THROW(gemm(q, 1, a(odd_a)[0], b(odd_b)[0], 0, c[0]));
    EXPECT_NO_THROW(gemm_batched(q, 1, a(odd_a), b(odd_b), 0, c));
    EXPECT_NO_THROW(lists(odd_a, odd_b));
    EXPECT_THROW(gemm(q, 1, a(1)[0], b(1)[0], 0, c[0]), invalid_argument);
    EXPECT_THROW(gemm_batched(q, 1, a(1), b(1), 0, c), invalid_argument);
    EXPECT_THROW(lists(1, 1), invalid_argument);
    q.wait();
  }
}

}  // namespace
}  // namespace keramos::test

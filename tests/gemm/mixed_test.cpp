// Products of elements of two types, each in both orders: a half and float, real and complex.
#include <gtest/gtest.h>

#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "mixed_case.hpp"
#include "product_cases.hpp"

namespace keramos::test {
namespace {

template <class Elements>
class GemmMixed : public testing::Test {
 protected:
  static judged_products products() {
    return products_of<typename Elements::a, typename Elements::c, typename Elements::b>();
  }
};
TYPED_TEST_SUITE(GemmMixed, mixes);

constexpr layout layouts[] = {layout::right, layout::left, layout::strided};

/// As pack_and_cut, but a product that is done as its transpose loses columns to a part of its own.
void cut(gemm_plan& plan, int k_tile) {
  const auto turn = [&] {
    for (int i = 0; i < plan.size; ++i) {
      std::swap(plan.parts[i].m, plan.parts[i].n);
      std::swap(plan.parts[i].m0, plan.parts[i].n0);
    }
  };
  const bool transposed = plan.parts[0].transposed;
  if (transposed) turn();
  pack_and_cut(plan, k_tile);
  if (transposed) turn();
}

TYPED_TEST(GemmMixed, SizesAndOps) { sizes_and_ops(this->products()); }
TYPED_TEST(GemmMixed, EveryOpAndLayout) { every_op_and_layout(this->products()); }
TYPED_TEST(GemmMixed, RandomLayoutsAndScalars) { random_layouts_and_scalars(this->products()); }
TYPED_TEST(GemmMixed, LongK) { long_k(this->products()); }
TYPED_TEST(GemmMixed, PackedBeforehandAndCut) { packed_beforehand_and_cut(this->products(), cut); }
TYPED_TEST(GemmMixed, Batches) { batches(this->products()); }
TYPED_TEST(GemmMixed, Lists) { lists(this->products()); }

// What is multiplied lies one behind the other: one product of stacked rows or columns.
TYPED_TEST(GemmMixed, StackedBatches) {
  std::mt19937_64 rng(fresh_seed());
  for (const bool of_a : {true, false}) {
    batched_case g{.batch = 4, .m = 20, .n = 30, .k = 25, .alpha = 1, .beta = 1};
    (of_a ? g.space_a : g.space_b) = spacing::shared;
    g.a = g.b = g.c = of_a ? layout::left : layout::right;
    EXPECT_TRUE(this->products().batch(g, rng()));
  }
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
        const stored_addresses<A> av(a);
        const stored_addresses<B> bv(b, true);
        const stored_addresses<C> cv(c);
        gemm_batched(q, alpha, av.array, bv.array, beta, cv.array, options).wait();
      };
      EXPECT_TRUE((run_batched<A, C, B>(g, seed++, call, "pointer array")));
    }
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

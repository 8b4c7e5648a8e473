// The plan of a batch as a value: given back, repeated, changed. Same plan, same bits.
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "batch_plan_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmBatchPlan : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmBatchPlan, types);

/// A plan for each of a batch's problems alone.
template <class T>
gemm_plan plan_of_first(batches<T>& x) {
  queue q;
  return plan_gemm(q, x.a.view[0], x.b.view[0], x.c.view[0]);
}

/// A tile that batches can take, of this type.
template <class T>
gemm_tile tile_for_batches() {
  batches<T> x(50, 200, 200, 40);
  gemm_tile tile = x.plan();
  if (on_host) tile = {}, tile.block = {24, 32, 40};
  return tile;
}

// Whatever the library chooses: stacked, small, tiled, one after the other on hosts; interleaved, column-major, shared.
TYPED_TEST(GemmBatchPlan, TheSamePlanGivesTheSameBits) {
  struct {
    index_t count, m, n, k;
    spacing s = spacing::packed, of_b = spacing::packed;
  } const cases[] = {{1, 40, 50, 60},
                     {300, 4, 4, 4},
                     {20, 17, 9, 30},
                     {60, 8, 8, 8, spacing::interleaved, spacing::interleaved},
                     {40, 12, 8, 5, spacing::packed, spacing::shared},
                     {300, 130, 140, 150},
                     {2, 540, 530, 510}};
  std::set<batch_way> seen;
  for (const auto& g : cases)
    for (const layout l : {layout::right, layout::left}) {
      batches<TypeParam> x(g.count, g.m, g.n, g.k, l, g.s, g.of_b);
      const gemm_batch_plan plan = x.plan();
      SCOPED_TRACE(to_string(plan));
      EXPECT_EQ(plan, x.plan());
      seen.insert(plan.way);
      const auto chosen = x.product({});
      ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
      ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
    }
  std::set<batch_way> ways{batch_way::one_product, batch_way::small, batch_way::tiled};
  if (on_host) ways.insert(batch_way::one_by_one);
  EXPECT_EQ(seen, ways);
}

// Any way and tile, either way round: judged by the reference, like all batches.
TYPED_TEST(GemmBatchPlan, ChangedPlansAreFollowed) {
  using T = TypeParam;
  const gemm_tile tile = tile_for_batches<T>();
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  std::set<batch_way> followed;
  for (int round = 0; round < 60; ++round) {
    const index_t most = round % 3 == 0 ? 32 : 70;
    const auto extent = [&] { return 1 + index_t(rng() % most); };
    batched_case g{2 + index_t(rng() % 5), extent(), extent(), extent()};
    g.op_a = rng() % 2 ? op::N : op::T, g.op_b = rng() % 2 ? op::N : op::T;
    g.a = layout(rng() % 3), g.b = layout(rng() % 3), g.c = layout(rng() % 3);
    if (rng() % 4 == 0) g.space_b = spacing::shared;
    g.gap = rng() % 5, g.alpha = 1.5, g.beta = rng() % 2 ? -0.5 : 0;
    const auto call = [&](queue& q, auto alpha, const auto& a, const auto& b, auto beta, const auto& c,
                          gemm_batched_options options) {
      gemm_batch_plan plan = plan_gemm_batched(q, a, b, c, options);
      switch (rng() % 3) {
        case 0:  // as it is
          break;
        case 1:
          plan.way = batch_way::one_by_one;
          plan.products = {plan_gemm(q, a[0], b[0], c[0], {.op_a = options.op_a, .op_b = options.op_b})};
          break;
        default:
          static_cast<gemm_tile&>(plan) = tile;
          plan.way = batch_way::tiled, plan.transposed = rng() % 2;
          plan.products.clear();
          if (on_host) plan.block = {1 + int(rng() % 60), 1 + int(rng() % 60), 1 + int(rng() % 60)};
      }
      followed.insert(plan.way);
      options.plan = plan;
      gemm_batched(q, alpha, a, b, beta, c, options);
    };
    ASSERT_TRUE(run_batched<T>(g, seed + std::uint64_t(round), call));
  }
  EXPECT_TRUE(followed.count(batch_way::one_by_one) && followed.count(batch_way::tiled));
}

// Rows of C shall lie along memory: else the transposed products are done, and the plan says so. It may be changed to the other
// way round.
TYPED_TEST(GemmBatchPlan, TransposedWhereRowsOfCAreApart) {
  for (const layout l : {layout::right, layout::left}) {
    batches<TypeParam> x(20, 70, 66, 30, l);
    gemm_batch_plan plan = x.plan();
    SCOPED_TRACE(to_string(plan));
    EXPECT_EQ(plan.way, on_host ? batch_way::small : batch_way::tiled);
    EXPECT_EQ(plan.m, 70);
    EXPECT_EQ(plan.n, 66);
    EXPECT_EQ(plan.transposed, l == layout::left);
    EXPECT_EQ(to_string(plan).find(", transposed") != std::string::npos, l == layout::left);
    const auto chosen = x.product({.plan = plan});
    ASSERT_TRUE(same_bits(chosen, x.product({})));
    plan.transposed = !plan.transposed;
    const auto other_way = x.product({.plan = plan});
    for (std::size_t i = 0; i < chosen.size(); ++i)
      ASSERT_NEAR(double(chosen[i]), double(other_way[i]), std::is_integral_v<TypeParam> ? 0.0 : 1e-4) << i;
  }
}

// Elements of two types have one order: the other is the transposed product. That is not for plans to choose, and they are
// in the caller's coordinates.
template <class A, class B>
void test_two_types() {
  const std::uint64_t seed = fresh_seed();
  for (const batch_way way : {batch_way::tiled, batch_way::one_by_one}) {
    batched_case g{.batch = 5, .m = 41, .n = 29, .k = 33, .beta = 2};
    const auto call = [&](queue& q, auto alpha, const auto& a, const auto& b, auto beta, const auto& c,
                          gemm_batched_options options) {
      gemm_batch_plan plan = plan_gemm_batched(q, a, b, c, options);
      EXPECT_EQ(plan.m, g.m);
      EXPECT_EQ(plan.n, g.n);
      EXPECT_FALSE(plan.transposed);
      plan.way = way;
      plan.products.clear();
      if (way == batch_way::one_by_one) plan.products = {plan_gemm(q, a[0], b[0], c[0])};
      if (on_host) plan.block = {24, 16, 20};
      const auto refuses = [&](gemm_batch_plan changed) {
        options.plan = changed;
        EXPECT_THROW(gemm_batched(q, alpha, a, b, beta, c, options), invalid_argument);
      };
      gemm_batch_plan changed = plan;
      std::swap(changed.m, changed.n);
      refuses(changed);
      if (way == batch_way::tiled) {
        changed = plan, changed.transposed = true;
        refuses(changed);
      } else {
        changed = plan, std::swap(changed.products[0].m, changed.products[0].n);
        refuses(changed);
      }
      options.plan = plan;
      gemm_batched(q, alpha, a, b, beta, c, options);
    };
    EXPECT_TRUE((run_batched<A, float, B>(g, seed, call)));
  }
}
TEST(GemmBatchPlanOfTwoTypes, IsInTheCallersCoordinates) {
  test_two_types<float16, float>();
  test_two_types<float, float16>();
}

// On GPUs a small problem may also take a larger tile than it needs.
TYPED_TEST(GemmBatchPlan, SmallProblemsOnLargerTiles) {
  if (on_host) return;
  using T = TypeParam;
  const gemm_batch_plan large = batches<T>(50, 30, 30, 30).plan();
  ASSERT_EQ(large.way, batch_way::small);
  const std::uint64_t seed = fresh_seed();
  for (const index_t n : {3, 4, 8, 13, 16, 31}) {
    batched_case g{29, n, n, n + 5};
    g.beta = 2;
    const auto call = [&](queue& q, auto alpha, const auto& a, const auto& b, auto beta, const auto& c,
                          gemm_batched_options options) {
      gemm_batch_plan plan = plan_gemm_batched(q, a, b, c, options);
      static_cast<gemm_tile&>(plan) = large;
      options.plan = plan;
      gemm_batched(q, alpha, a, b, beta, c, options);
    };
    ASSERT_TRUE(run_batched<T>(g, seed + std::uint64_t(n), call));
  }
}

// The plan of the products is followed too: parts of k meet as it says.
TYPED_TEST(GemmBatchPlan, KIsDividedAsThePlanSays) {
  batches<TypeParam> x(3, 40, 24, 4096);
  gemm_batch_plan plan = x.plan();
  plan.way = batch_way::one_by_one;
  plan.products = {plan_of_first(x)};
  gemm_part& part = plan.products[0].parts[0];
  const auto divide = [&](split_plan split) {
    part.split = split;
    if (on_host) part.path = gemm_path::unpacked, part.block = {17, 9, int(split.k_per_part)};
  };
  divide({8, on_host ? 8 : 3, 512});
  const auto divided = x.product({.plan = plan});
  EXPECT_TRUE(same_bits(divided, x.product({.plan = plan})));
  if constexpr (!std::is_integral_v<TypeParam>) {  // of 2880 random sums some round elsewhere
    divide({4, on_host ? 4 : 3, 1024});
    EXPECT_FALSE(same_bits(divided, x.product({.plan = plan})));
  }
}

// What stacks is one product, whose plan may be changed as any.
TYPED_TEST(GemmBatchPlan, StackedProblemsAreOneProduct) {
  batches<TypeParam> x(10, 12, 30, 40, layout::right, spacing::packed, spacing::shared);
  gemm_batch_plan plan = x.plan();
  ASSERT_EQ(plan.way, batch_way::one_product);
  ASSERT_EQ(plan.products.size(), 1u);
  EXPECT_EQ(plan.products[0].m, 120);
  const auto stacked = x.product({.plan = plan});
  plan.way = batch_way::one_by_one, plan.products = {plan_of_first(x)};
  const auto apart = x.product({.plan = plan});
  ASSERT_EQ(stacked.size(), apart.size());
  for (std::size_t i = 0; i < stacked.size(); ++i) {
    if (stacked[i] != stacked[i]) continue;  // what surrounds C is NaN
    ASSERT_NEAR(double(stacked[i]), double(apart[i]), std::is_integral_v<TypeParam> ? 0.0 : 1e-4) << i;
  }
}

/// Where the matrices of a batch lie, in memory that the device reads.
template <class T>
auto addresses_of(const batched_matrix_view<T>& v) {
  Kokkos::View<matrix_view<T>*, default_execution_space> all("addresses", v.batch);
  auto host = Kokkos::create_mirror_view(all);
  for (index_t b = 0; b < v.batch; ++b) host(b) = v[b];
  Kokkos::deep_copy(all, host);
  return all;
}
TYPED_TEST(GemmBatchPlan, ArraysOfAddresses) {
  using T = TypeParam;
  for (const index_t n : {4, 23, 140}) {
    batches<T> x(200, n, n, n, layout::right, spacing::apart);
    const auto av = addresses_of(x.a.view), bv = addresses_of(x.b.view), cv = addresses_of(x.c.view);
    const auto a = matrix_array<T>::from(av, x.a.view[0]), b = matrix_array<T>::from(bv, x.b.view[0]),
               c = matrix_array<T>::from(cv, x.c.view[0]);
    queue q;
    gemm_batch_plan plan = plan_gemm_batched(q, a, b, c);
    SCOPED_TRACE(to_string(plan));
    EXPECT_TRUE(plan.way == batch_way::small || plan.way == batch_way::tiled);
    const auto with = [&](const gemm_batched_options& options) {
      return x.product_by([&](queue& on) { gemm_batched(on, 1, a, b, 0, c, options); });
    };
    const auto chosen = with({});
    ASSERT_TRUE(same_bits(chosen, with({.plan = plan})));
    plan.way = batch_way::one_by_one, plan.products = {plan_of_first(x)};
    if (on_host)
      with({.plan = plan});
    else
      EXPECT_THROW(with({.plan = plan}), invalid_argument);
    plan.way = batch_way::one_product;
    EXPECT_THROW(with({.plan = plan}), invalid_argument);
  }
}

TYPED_TEST(GemmBatchPlan, ListsGiveTheSameBits) {
  for (const auto* extents : {&small_ones, &mixed_ones}) {
    list_of<TypeParam> x(*extents);
    const gemm_batch_plan plan = x.plan();
    SCOPED_TRACE(to_string(plan));
    EXPECT_EQ(plan, x.plan());
    EXPECT_TRUE(plan.is_list);
    EXPECT_EQ(plan.way, on_host || extents == &small_ones ? batch_way::small : batch_way::tiled);
    // Those of more than 128^3 products.
    EXPECT_EQ(plan.products.size(), on_host && extents == &mixed_ones ? 3u : 0u);
    const auto chosen = x.product({});
    ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
    ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
    EXPECT_TRUE(x.judge());
  }
}

TYPED_TEST(GemmBatchPlan, ChangedPlansOfListsAreFollowed) {
  using T = TypeParam;
  for (const auto* extents : {&small_ones, &mixed_ones}) {
    list_of<T> x(*extents, fresh_seed());
    gemm_batch_plan plan = x.plan();
    for (gemm_plan& p : plan.products) {  // the larger ones, in tiles of their own
      p.size = 1, p.parts[0].path = gemm_path::tiled, p.parts[0].split = {}, p.parts[0].pack_b = false;
      p.parts[0].block = {17, 30, 19}, p.parts[0].band_n = 50;
    }
    x.product({.plan = plan});
    EXPECT_TRUE(x.judge());
    if (!on_host) {
      static_cast<gemm_tile&>(plan) = tile_for_batches<T>(), plan.way = batch_way::tiled;
      x.product({.plan = plan});
      EXPECT_TRUE(x.judge());
    }
    plan.way = batch_way::one_by_one;
    plan.products.clear();
    for (std::size_t i = 0; i < extents->size(); ++i) {
      const tiling::shape& s = (*extents)[i];
      if (s.m > 0 && s.n > 0 && s.k > 0) plan.products.push_back(x.plan_of(i));
    }
    const auto one_by_one = x.product({.plan = plan});
    EXPECT_TRUE(x.judge());
    ASSERT_TRUE(same_bits(one_by_one, x.product({.plan = plan})));
  }
}

}  // namespace

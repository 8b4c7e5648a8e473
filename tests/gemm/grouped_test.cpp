// gemm_batched over lists: each problem with extents, layout and memory of its own.
#include "batched_case.hpp"
#include "ops_and_layouts.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmGrouped : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmGrouped, types);

/// The members as one list.
template <class T>
testing::AssertionResult run_group(const std::vector<list_member>& group, op op_a, op op_b, double alpha,
                                   double beta, std::uint64_t seed) {
  return run<T>(list_case{.members = group, .op_a = op_a, .op_b = op_b, .alpha = alpha, .beta = beta}, seed);
}

TYPED_TEST(GemmGrouped, EveryOpAndLayoutInAnyMix) {
  std::uint64_t seed = fresh_seed();
  for_ops([&](op op_a, op op_b) {
    list_case list = list_of_every_layout(op_a, op_b);
    list.alpha = 1.5, list.beta = 0.5;
    ASSERT_TRUE(run<TypeParam>(list, seed++));
  });
}

TYPED_TEST(GemmGrouped, SmallOnes) {
  std::uint64_t seed = fresh_seed();
  std::vector<list_member> group;
  for (index_t i = 0; i < 70; ++i) group.push_back({1 + i % 32, 1 + i * 7 % 31, i % 40});
  for (op a : {op::N, op::T})
    for (op b : {op::N, op::T}) ASSERT_TRUE(run_group<TypeParam>(group, a, b, 1.5, 0.5, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::N, 1, 0, seed++));
}

TYPED_TEST(GemmGrouped, SmallAndLargeAndEmpty) {
  std::uint64_t seed = fresh_seed();
  const std::vector<list_member> group{{200, 150, 170}, {1, 1, 1},   {0, 40, 9}, {70, 0, 8},   {65, 129, 0},
                                       {8, 8, 8},       {33, 1, 90}, {5, 6, 0},  {128, 64, 1}, {1, 300, 40}};
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::N, 1, 0, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::T, op::N, -1, 2, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::T, 0, 2, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::T, 0, 0, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::N, 0, 1, seed++));
  ASSERT_TRUE(run_group<TypeParam>({{0, 3, 3}, {3, 0, 3}}, op::N, op::N, 1, 0, seed++));
  ASSERT_TRUE(run_group<TypeParam>({}, op::N, op::N, 1, 0, seed++));
}

// Layouts that differ from problem to problem leave only the kernel that takes any.
TYPED_TEST(GemmGrouped, RandomGroups) {
  std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  for (int i = 0; i < 40; ++i) {
    const bool one_layout = rng() % 2, aligned = rng() % 2;
    const index_t most = rng() % 2 ? 32 : 150;
    std::vector<list_member> group(1 + rng() % 30);
    const layout common[] = {layouts[rng() % 3], layouts[rng() % 3], layouts[rng() % 3]};
    for (list_member& g : group) {
      const auto extent = [&] { return index_t(rng() % (most + 1)); };
      g.m = extent(), g.n = extent(), g.k = extent();
      if (aligned) g.m &= ~3, g.n &= ~3, g.k &= ~3;
      g.a = one_layout ? common[0] : layouts[rng() % 3];
      g.b = one_layout ? common[1] : layouts[rng() % 3];
      g.c = one_layout ? common[2] : layouts[rng() % 3];
      if (!aligned) g.gap = rng() % 4, g.offset = rng() % 4;
    }
    ASSERT_TRUE(run_group<TypeParam>(group, rng() % 2 ? op::N : op::T, rng() % 2 ? op::N : op::C, 1,
                                     double(rng() % 2), seed + i));
  }
}

// One list after the other on one queue: each is read before the call returns, none overtakes another.
TYPED_TEST(GemmGrouped, ManyCallsInARow) {
  using T = TypeParam;
  using view = Kokkos::View<T**, Kokkos::LayoutRight, default_execution_space>;
  queue q;
  std::vector<view> c;
  view a("a", 12, 12);
  Kokkos::deep_copy(a, T(1));
  for (int i = 0; i < 50; ++i) {
    std::vector<view> list;
    for (int j = 0; j <= i; ++j) list.push_back(view("c", 12, 12));
    gemm_batched(q, i, a, a, 0, list);
    c.insert(c.end(), list.begin(), list.end());
  }
  q.wait();
  std::size_t at = 0;
  for (int i = 0; i < 50; ++i)
    for (int j = 0; j <= i; ++j, ++at) {
      const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c[at]);
      ASSERT_EQ(h(11, 3), T(12 * i)) << i << ' ' << j;
    }
}

// Lists as applications have them: Views in a vector, a View of matrix_views, one matrix for all.
TYPED_TEST(GemmGrouped, TakesListsOfAnyKind) {
  using T = TypeParam;
  using view = Kokkos::View<T**, default_execution_space>;
  std::vector<view> a;
  Kokkos::View<matrix_view<T>*, Kokkos::HostSpace> c("c", 3);
  std::vector<view> storage;
  view b("b", 4, 5);
  Kokkos::deep_copy(b, T(2));
  for (int i = 0; i < 3; ++i) {
    a.push_back(view("a", 3 + i, 4)), storage.push_back(view("c", 3 + i, 5));
    Kokkos::deep_copy(a.back(), T(i));
    c(i) = as_matrix(storage.back());
  }
  queue q;
  gemm_batched(q, 1, a, b, 0, c).wait();
  for (int i = 0; i < 3; ++i) {
    const auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), storage[i]);
    for (int r = 0; r < 3 + i; ++r)
      for (int s = 0; s < 5; ++s) ASSERT_EQ(h(r, s), T(8 * i));
  }
}

}  // namespace

// gemm_batched over lists: each problem with extents, layout and memory of its own.
#include "batched_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmGrouped : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmGrouped, types);

struct member {
  index_t m, n, k;
  layout a = layout::right, b = layout::right, c = layout::right;
  index_t gap = 0, offset = 0;
};

/// Runs all members as one grouped batch and judges every element of every C, and around it.
template <class T>
testing::AssertionResult run_group(const std::vector<member>& group, op op_a, op op_b, double alpha,
                                   double beta, std::uint64_t seed) {
  alpha = scalar_for<T>(alpha), beta = scalar_for<T>(beta);
  std::mt19937_64 rng(seed);
  const bool ta = op_a != op::N, tb = op_b != op::N;
  std::vector<stored_matrix<T>> a, b, c;
  std::vector<matrix_view<const T>> av, bv;
  std::vector<matrix_view<T>> cv;
  for (const member& g : group) {
    a.emplace_back(ta ? g.k : g.m, ta ? g.m : g.k, g.a, g.gap, g.offset);
    b.emplace_back(tb ? g.n : g.k, tb ? g.k : g.n, g.b, g.gap, g.offset);
    c.emplace_back(g.m, g.n, g.c, g.gap, g.offset);
    for (auto* x : {&a.back(), &b.back(), &c.back()}) {
      x->fill_all(poison<T>);
      const bool read = x == &c.back() ? beta != 0 : alpha != 0;
      for (index_t i = 0; read && i < x->view.rows; ++i)
        for (index_t j = 0; j < x->view.cols; ++j) x->at(i, j) = random_value<T>(rng);
      x->upload();
    }
    av.push_back(a.back().view), bv.push_back(b.back().view), cv.push_back(c.back().view);
  }
  std::vector<judged_storage<T>> judged(c.begin(), c.end());
  queue q;
  gemm_batched(q, alpha, av, bv, beta, cv, {op_a, op_b}).wait();
  for (std::size_t l = 0; l < group.size(); ++l) {
    record_support("list", a[l].view, b[l].view, c[l].view, op_a, op_b);
    c[l].download();
    const auto& g = group[l];
    auto result = judged[l].judge(reference::element_judge<T>(alpha, beta), a[l].applied(op_a),
                                  b[l].applied(op_b), c[l].applied(), g.m, g.n, alpha != 0 ? g.k : 0);
    if (result) result = judged[l].judge_rest();
    if (!result)
      return result << "; problem " << l << " of " << group.size() << " (" << g.m << 'x' << g.n << 'x' << g.k
                    << "), seed " << seed;
  }
  return testing::AssertionSuccess();
}

TYPED_TEST(GemmGrouped, SmallOnes) {
  std::uint64_t seed = fresh_seed();
  std::vector<member> group;
  for (index_t i = 0; i < 70; ++i) group.push_back({1 + i % 32, 1 + i * 7 % 31, i % 40});
  for (op a : {op::N, op::T})
    for (op b : {op::N, op::T}) ASSERT_TRUE(run_group<TypeParam>(group, a, b, 1.5, 0.5, seed++));
  ASSERT_TRUE(run_group<TypeParam>(group, op::N, op::N, 1, 0, seed++));
}

TYPED_TEST(GemmGrouped, SmallAndLargeAndEmpty) {
  std::uint64_t seed = fresh_seed();
  const std::vector<member> group{{200, 150, 170}, {1, 1, 1},   {0, 40, 9}, {70, 0, 8},   {65, 129, 0},
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
    std::vector<member> group(1 + rng() % 30);
    const layout common[] = {layouts[rng() % 3], layouts[rng() % 3], layouts[rng() % 3]};
    for (member& g : group) {
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

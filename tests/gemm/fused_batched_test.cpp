// Epilogues that know where they are, in batches: the caller's row and column, and the number of the problem.
#include <array>
#include <random>
#include <set>
#include <vector>

#include "fused_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class FusedBatches : public testing::Test {};
// On devices one type stands for all: an epilogue is called by the same code, and its kernels take minutes to compile.
using types = std::conditional_t<on_host, testing::Types<float, double, std::int32_t>, testing::Types<float>>;
TYPED_TEST_SUITE(FusedBatches, types);

/// How a batch or list is planned, besides the plans of products.
template <class T, class A, class B, class C>
batch_way way_of(queue& q, const A& a, const B& b, const C& c, bool reads) {
  return plan_gemm_batched(q, a, b, c, place_of_each<T>{reads}).way;
}

// One that is a product, small ones that share teams or go to a thread each, larger ones that are tiled, or that hosts with many
// threads do one after the other. Plans has those that are given.
TYPED_TEST(FusedBatches, Batches) {
  using T = TypeParam;
  std::uint64_t seed = fresh_seed();
  std::set<batch_way> seen;
  for (const auto& [m, n, k] :
       {std::array<index_t, 3>{4, 4, 4}, {6, 5, 0}, {7, 5, 9}, {32, 32, 32}, {70, 66, 40}, {200, 180, 210}})
    for (const bool batch_fastest : {false, true})
      for (const bool shared_b : {false, true})
        for (const bool column_major : {false, true}) {
          const index_t count = m == 7 ? 1 : 5;
          const bool reads = (m + n + shared_b) % 2 == 0;
          std::mt19937_64 rng(seed++);
          const auto strides = [&](index_t rows, index_t cols, bool transposed) {
            const index_t across = batch_fastest ? count : 1;
            return transposed
                       ? std::array<index_t, 3>{batch_fastest ? 1 : rows * cols, across, rows * across}
                       : std::array<index_t, 3>{batch_fastest ? 1 : rows * cols, cols * across, across};
          };
          const auto view_of = [&](auto& storage, index_t rows, index_t cols, bool transposed, bool shared) {
            const auto s = strides(rows, cols, transposed);
            return batched_matrix_view<T>{storage.device.data(), count, rows, cols,
                                          shared ? 0 : s[0],     s[1],  s[2]};
          };
          stored_matrix<T> a(count, m * k, layout::right, 0, 0), b(count, k * n, layout::right, 0, 0),
              c(count, m * n, layout::right, 0, 0);
          for (auto* x : {&a, &b, &c}) x->fill_all([&] { return small<T>(rng); }), x->upload();
          const auto av = view_of(a, m, k, false, false), bv = view_of(b, k, n, column_major, shared_b),
                     cv = view_of(c, m, n, column_major, false);
          const auto old = c.host;
          std::vector<T> before(old.data(), old.data() + old.extent(0));
          queue q;
          if (k > 0) seen.insert(way_of<T>(q, av, bv, cv, reads));
          gemm_batched(q, av, bv, cv, place_of_each<T>{reads});
          q.wait();
          record_support("batched epilogue", av, bv, cv, op::N, op::N);
          c.download();
          const auto at = [&](const auto& v, auto* base, index_t p, index_t i, index_t j) {
            return base[p * v.batch_stride + i * v.row_stride + j * v.col_stride];
          };
          const auto host_of = [](const auto& v, const auto& x, index_t p) {
            return reference::operand<T>{x.host.data() + p * v.batch_stride, v.row_stride, v.col_stride};
          };
          for (index_t p = 0; p < count; ++p) {
            const reference_sums sums(host_of(av, a, p), host_of(bv, b, p), m, n, k);
            for (index_t i = 0; i < m; ++i)
              for (index_t j = 0; j < n; ++j)
                ASSERT_EQ(at(cv, c.host.data(), p, i, j),
                          T(sums(i, j).value) + (reads ? T(2) * at(cv, before.data(), p, i, j) : T(0)) +
                              code_of<T>(i, j, p))
                    << m << 'x' << n << 'x' << k << " problem " << p << " at " << i << ", " << j;
          }
        }
  EXPECT_TRUE(seen.count(batch_way::one_product));
  EXPECT_TRUE(seen.count(batch_way::small));
  EXPECT_TRUE(seen.count(batch_way::tiled) || (on_host && seen.count(batch_way::one_by_one)));
}

// Lists, with empty problems and such without terms among them; all small, and not.
TYPED_TEST(FusedBatches, Lists) {
  using T = TypeParam;
  std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  std::set<batch_way> seen;
  for (const index_t most : {20, 150})
    for (const bool reads : {false, true}) {
      std::vector<operands<T>> all;
      for (int i = 0; i < 12; ++i) {
        const auto extent = [&] { return index_t(rng() % std::uint64_t(most)); };
        all.emplace_back(extent(), extent(), i == 3 ? 0 : extent(), layout(rng() % 3), layout(rng() % 3),
                         layout(rng() % 3), seed++, reads);
      }
      std::vector<matrix_view<T>> a, b, c;
      for (auto& x : all) a.push_back(x.a.view), b.push_back(x.b.view), c.push_back(x.c.view);
      queue q;
      seen.insert(way_of<T>(q, a, b, c, reads));
      gemm_batched(q, a, b, c, place_of_each<T>{reads});
      q.wait();
      for (std::size_t i = 0; i < all.size(); ++i) {
        record_support("batched epilogue", a[i], b[i], c[i], op::N, op::N);
        ASSERT_TRUE(all[i].judge(reads, index_t(i)));
      }
    }
  EXPECT_TRUE(seen.count(batch_way::small));
  EXPECT_EQ(seen.count(batch_way::tiled), on_host ? 0u : 1u);
}

// A plan for the epilogue is followed like any: nothing is stacked, since rows of C would not be the caller's.
TYPED_TEST(FusedBatches, Plans) {
  using T = TypeParam;
  std::set<batch_way> followed;
  for (const index_t n : {4, 30, 140}) {
    const index_t count = 40;
    std::mt19937_64 rng(fresh_seed());
    stored_matrix<T> a(count, n * n, layout::right, 0, 0), b(n, n, layout::right, 0, 0),
        c(count, n * n, layout::right, 0, 0);
    for (auto* x : {&a, &b}) x->fill_all([&] { return small<T>(rng); }), x->upload();
    const batched_matrix_view<T> av{a.device.data(), count, n, n, n * n, n, 1},
        cv{c.device.data(), count, n, n, n * n, n, 1};
    const place_of_each<T> epilogue{false};
    queue q;
    EXPECT_EQ(plan_gemm_batched(q, av, b.view, cv).way, batch_way::one_product);
    gemm_batch_plan plan = plan_gemm_batched(q, av, b.view, cv, epilogue);
    ASSERT_NE(plan.way, batch_way::one_product);
    const reference_sums sums(reference::operand<T>{a.host.data(), n, 1}, b.applied(), count * n, n, n);
    const auto follow = [&] {
      followed.insert(plan.way);
      c.fill_all(poison<T>), c.upload();
      gemm_batched(q, av, b.view, cv, epilogue, {.plan = plan});
      q.wait();
      c.download();
      for (index_t p = 0; p < count; ++p)
        for (index_t i = 0; i < n; ++i)
          for (index_t j = 0; j < n; ++j)
            ASSERT_EQ(c.at(p, i * n + j), T(sums(p * n + i, j).value) + code_of<T>(i, j, p))
                << to_string(plan);
    };
    follow();
    plan.transposed = !plan.transposed;  // the epilogue's rows stay those of the caller's
    follow();
    if (on_host)
      for (const bool transposed : {false, true}) {
        plan.way = batch_way::tiled, plan.block = {24, 32, 40}, plan.transposed = transposed;
        follow();
      }
    plan.transposed = false;
    plan.way = batch_way::one_by_one;
    plan.products = {plan_gemm(q, av[0], b.view, cv[0], epilogue)};
    follow();
    plan.way = batch_way::one_product;
    EXPECT_THROW(gemm_batched(q, av, b.view, cv, epilogue, {.plan = plan}), invalid_argument);
  }
  EXPECT_EQ(followed, (std::set<batch_way>{batch_way::small, batch_way::tiled, batch_way::one_by_one}));
}
TYPED_TEST(FusedBatches, PlansOfLists) {
  using T = TypeParam;
  std::uint64_t seed = fresh_seed();
  std::vector<operands<T>> all;
  for (const index_t n : {7, 150, 20, 0, 131, 160})
    all.emplace_back(n, n + 3, n + 5, layout(n % 3), layout(n % 2), layout((n + 1) % 3), seed++, false);
  std::vector<matrix_view<T>> a, b, c;
  for (auto& x : all) a.push_back(x.a.view), b.push_back(x.b.view), c.push_back(x.c.view);
  const place_of_each<T> epilogue{false};
  queue q;
  gemm_batch_plan plan = plan_gemm_batched(q, a, b, c, epilogue);
  EXPECT_EQ(plan.way, on_host ? batch_way::small : batch_way::tiled);
  EXPECT_EQ(plan.products.size(), on_host ? 3u : 0u);
  const auto follow = [&] {
    gemm_batched(q, a, b, c, epilogue, {.plan = plan});
    q.wait();
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_TRUE(all[i].judge(false, index_t(i)));
  };
  follow();
  plan.way = batch_way::one_by_one, plan.products.clear();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (c[i].rows > 0) plan.products.push_back(plan_gemm(q, a[i], b[i], c[i], epilogue));
  follow();
}

/// As large as an epilogue may be.
struct largest {
  static constexpr int count = int(detail::most_epilogue_bytes / sizeof(double));
  double numbers[count];

  KERAMOS_FUNCTION double operator()(double acc, index_t i, index_t, index_t) const {
    return acc + numbers[i % count];
  }
};

TEST(FusedSizes, TheLargestEpilogueFits) {
  static_assert(sizeof(largest) == detail::most_epilogue_bytes);
  if constexpr (
      on_host) {  // it compiles for devices if it does not exceed what launch_tiled and launch_tiles assert
    const index_t n = largest::count;
    operands<double> x(n, n, n, layout::right, layout::left, layout::right, fresh_seed(), false);
    largest e;
    for (int i = 0; i < largest::count; ++i) e.numbers[i] = 100 * i;
    queue q;
    const reference_sums sums(x.a.applied(), x.b.applied(), n, n, n);
    const auto expect_right = [&] {
      q.wait();
      x.c.download();
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) {
          ASSERT_EQ(x.c.at(i, j), sums(i, j).value + 100 * i);
          x.c.at(i, j) = poison<double>();
        }
      x.c.upload();
    };
    gemm(q, x.a.view, x.b.view, x.c.view, e);
    expect_right();
    gemm_batched(q, x.a.view, x.b.view, batched_matrix_view<double>::strided(x.c.view, 1, 0), e);
    expect_right();
    gemm_batched(q, std::vector{x.a.view}, std::vector{x.b.view}, std::vector{x.c.view}, e);
    expect_right();
  }
}

}  // namespace

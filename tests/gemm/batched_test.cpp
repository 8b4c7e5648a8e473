// What gemm_batched promises, on the backend chosen when configuring: batches of one shape.
#include "batched_case.hpp"
#include "ops_and_layouts.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmBatched : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmBatched, types);

constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
constexpr op ops[] = {op::N, op::T};
constexpr spacing inputs[] = {spacing::packed, spacing::interleaved, spacing::apart, spacing::shared};
constexpr spacing outputs[] = {spacing::packed, spacing::interleaved, spacing::apart};

TYPED_TEST(GemmBatched, EveryOpAndLayoutInAnyMix) {
  std::uint64_t seed = fresh_seed();
  for_ops_and_layouts([&](op op_a, op op_b, layout a, layout b, layout c) {
    batched_case g{21, 7, 13, 10, op_a, op_b, a, b, c};
    g.gap = 3, g.offset = 5, g.alpha = 1.5, g.beta = 0.5;
    ASSERT_TRUE(run<TypeParam>(g, seed++));
    ASSERT_TRUE(run_by_addresses<TypeParam>(g, seed++));
  });
}

TYPED_TEST(GemmBatched, EverySpacingInAnyMix) {
  std::uint64_t seed = fresh_seed();
  for (spacing a : inputs)
    for (spacing b : inputs)
      for (spacing c : outputs)
        for (index_t size : {4, 8, 20, 40}) {
          batched_case g{35, size, size, size};
          g.space_a = a, g.space_b = b, g.space_c = c;
          g.beta = size == 20 ? 2 : 0;
          ASSERT_TRUE(run<TypeParam>(g, seed++));
          g.gap = 4;
          ASSERT_TRUE(run<TypeParam>(g, seed++));
        }
}

// Around the extents that kernels for small matrices are made for; aligned, and not.
TYPED_TEST(GemmBatched, EdgesOfTiles) {
  std::uint64_t seed = fresh_seed();
  for (index_t size : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 130}) {
    const index_t batch = size > 40 ? 5 : 43;
    for (index_t gap : {0, 4}) {
      batched_case g{batch, size, size, size};
      g.gap = gap, g.offset = gap;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.op_a = g.op_b = op::T;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
    }
    ASSERT_TRUE(run<TypeParam>({batch, size, 6, 11}, seed++));
    ASSERT_TRUE(run<TypeParam>({batch, 6, size, 11}, seed++));
    ASSERT_TRUE(run<TypeParam>({batch, 6, 11, size}, seed++));
  }
}

TYPED_TEST(GemmBatched, Batches) {
  std::uint64_t seed = fresh_seed();
  for (index_t batch : {0, 1, 2, 3, 7, 8, 9, 31, 32, 33, 1000}) {
    ASSERT_TRUE(run<TypeParam>({batch, 4, 4, 4}, seed++));
    ASSERT_TRUE(run<TypeParam>({batch, 8, 8, 8}, seed++));
    ASSERT_TRUE(run<TypeParam>({batch, 16, 15, 9}, seed++));
  }
  ASSERT_TRUE(run<TypeParam>({70000, 2, 3, 2}, seed++));
  ASSERT_TRUE(run<TypeParam>({3, 200, 300, 700}, seed++));
  ASSERT_TRUE(run<TypeParam>({9, 150, 140, 300}, seed++));
}

// More k than one k-tile, with C as small as it gets: teams hold several problems over all k-tiles.
TYPED_TEST(GemmBatched, LongSums) {
  std::uint64_t seed = fresh_seed();
  for (index_t k : {33, 100, 513}) {
    for (index_t size : {3, 8, 16, 32}) {
      batched_case g{19, size, size, k};
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.op_b = op::T;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.space_a = g.space_b = g.space_c = spacing::interleaved;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
    }
  }
}

TYPED_TEST(GemmBatched, EmptyExtents) {
  std::uint64_t seed = fresh_seed();
  ASSERT_TRUE(run<TypeParam>({4, 0, 5, 3}, seed));
  ASSERT_TRUE(run<TypeParam>({4, 5, 0, 3}, seed));
  ASSERT_TRUE(run<TypeParam>({0, 0, 0, 0}, seed));
  batched_case g{4, 5, 7, 0};
  ASSERT_TRUE(run<TypeParam>(g, seed));
  g.beta = 3;
  ASSERT_TRUE(run<TypeParam>(g, seed));
}

// C is poisoned with NaN unless beta asks for it, and A and B unless alpha does.
TYPED_TEST(GemmBatched, BetaZeroDoesNotReadCAndAlphaZeroDoesNotReadAOrB) {
  std::uint64_t seed = fresh_seed();
  for (layout c : layouts)
    for (index_t size : {3, 8, 17, 40}) {
      batched_case g{17, size, size, size};
      g.c = c;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.alpha = 0;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.beta = 2;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
      g.beta = 1;
      ASSERT_TRUE(run<TypeParam>(g, seed++));
    }
}

// A or B shared and the other stacked: one large product in the place of many.
TYPED_TEST(GemmBatched, SharedOperands) {
  std::uint64_t seed = fresh_seed();
  for (layout l : layouts)
    for (spacing rest : outputs)
      for (bool share_a : {false, true}) {
        batched_case g{25, 6, 9, 12};
        g.a = g.b = g.c = l;
        g.space_a = share_a ? spacing::shared : rest;
        g.space_b = share_a ? rest : spacing::shared;
        g.space_c = rest;
        g.beta = 0.5;
        ASSERT_TRUE(run<TypeParam>(g, seed++));
        g.op_a = op::T;
        ASSERT_TRUE(run<TypeParam>(g, seed++));
      }
}

TYPED_TEST(GemmBatched, RandomShapes) {
  std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  const double scalars[] = {1, 0, -1, 2.5, -3};
  for (int i = 0; i < 250; ++i) {
    const auto extent = [&] { return index_t(1 + rng() % (rng() % 8 ? 34 : 90)); };
    batched_case g{index_t(1 + rng() % 60), extent(), extent(), extent()};
    if (rng() % 3 == 0) g.n = g.k = g.m = (g.m + 3) / 4 * 4;  // vectors fit
    g.op_a = ops[rng() % 2], g.op_b = rng() % 2 ? op::C : op::N;
    g.a = layouts[rng() % 3], g.b = layouts[rng() % 3], g.c = layouts[rng() % 3];
    g.space_a = inputs[rng() % 4], g.space_b = inputs[rng() % 4], g.space_c = outputs[rng() % 3];
    if (rng() % 3 == 0) g.space_b = g.space_c = g.space_a = outputs[rng() % 3];
    g.gap = rng() % 2 ? 0 : rng() % 5, g.offset = rng() % 2 ? 0 : rng() % 4;
    g.alpha = scalars[rng() % 5], g.beta = scalars[rng() % 5];
    ASSERT_TRUE(run<TypeParam>(g, seed + i));
  }
}

// Addresses in the device's memory: an array of pointers, or of views.
template <class T, class Batch>
auto addresses_of(const Batch& v) {
  Kokkos::View<matrix_view<T>*, default_execution_space> all("addresses", v.batch);
  auto host = Kokkos::create_mirror_view(all);
  for (index_t b = 0; b < v.batch; ++b) host(b) = v[b];
  Kokkos::deep_copy(all, host);
  return all;
}
TYPED_TEST(GemmBatched, TakesArraysOfAddresses) {
  using T = TypeParam;
  std::uint64_t seed = fresh_seed();
  for (index_t size : {4, 8, 11, 16, 32, 50})
    for (std::size_t alignment : {sizeof(T), std::size_t(16)})
      for (layout l : layouts) {
        batched_case g{29, size, size, size};
        g.a = g.c = l, g.op_b = op::T, g.beta = 2;
        g.space_b = spacing::apart;
        if (alignment == 16) g.gap = (4 - size % 4) % 4, g.space_b = spacing::shared;
        const auto call = [&](queue& q, double alpha, auto a, auto b, double beta, auto c, auto options) {
          const auto av = addresses_of<const T>(a);
          const auto bv = addresses_of<T>(b), cv = addresses_of<T>(c);
          auto aa = matrix_array<const T>::from(av, a[0]);
          auto ba = matrix_array<T>::from(bv, b[0]);
          aa.alignment = ba.alignment = alignment;
          gemm_batched(q, alpha, aa, ba, beta, matrix_array<T>::from(cv, c[0]), options).wait();
        };
        // matrix_view's first member is the address.
        if (alignment == 16 && (l == layout::strided || size % 4 != 0)) continue;
        ASSERT_TRUE(run_batched<T>(g, seed++, call, "pointer array"));
      }
}
template <class T>
struct pointer_to {
  T* at;
};
TYPED_TEST(GemmBatched, TakesArraysOfPointers) {
  using T = TypeParam;
  const int batch = 12, n = 5;
  Kokkos::View<T***, Kokkos::LayoutRight, default_execution_space> a("a", batch, n, n), c("c", batch, n, n);
  Kokkos::deep_copy(a, T(2));
  Kokkos::View<pointer_to<T>*, default_execution_space> to_c("to_c", batch);
  auto host = Kokkos::create_mirror_view(to_c);
  for (int b = 0; b < batch; ++b) host(b).at = c.data() + (batch - 1 - b) * n * n;
  Kokkos::deep_copy(to_c, host);
  queue q;
  const auto like = matrix_view<T>::row_major(nullptr, n, n);
  gemm_batched(q, 1, a, a, 0, matrix_array<T>::from(&to_c.data()->at, batch, like)).wait();
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (std::size_t i = 0; i < h.size(); ++i) ASSERT_EQ(h.data()[i], T(4 * n));
}

// Views as applications have them: default layout, sub-views, const, one matrix for all, other scalars.
TYPED_TEST(GemmBatched, TakesKokkosViews) {
  using T = TypeParam;
  const int batch = 9, m = 6, n = 10, k = 7;
  Kokkos::View<T***, default_execution_space> a("a", batch, m, k), c("c", batch + 2, m + 1, n + 3);
  Kokkos::View<T**, default_execution_space> b("b", n, k);
  Kokkos::deep_copy(a, T(3)), Kokkos::deep_copy(b, T(2)), Kokkos::deep_copy(c, T(-7));
  Kokkos::View<const T***, default_execution_space> a_const = a;
  const auto part =
      Kokkos::subview(c, std::make_pair(1, 1 + batch), std::make_pair(1, 1 + m), std::make_pair(2, 2 + n));
  queue q;
  const event done = gemm_batched(q, 2, a_const, b, 1.0f, part, {.op_b = op::T});
  done.wait();
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int l = 0; l < batch + 2; ++l)
    for (int i = 0; i < m + 1; ++i)
      for (int j = 0; j < n + 3; ++j) {
        const bool inside = l >= 1 && l < 1 + batch && i >= 1 && j >= 2 && j < 2 + n;
        ASSERT_EQ(h(l, i, j), inside ? T(12 * k - 7) : T(-7)) << l << ' ' << i << ' ' << j;
      }
}

// One NaN spoils its row of its matrix, and nothing else.
TEST(GemmBatchedFloating, NaNStaysInItsMatrix) {
  for (index_t n : {4, 8, 15, 40}) {
    stored_batch<float> a(20, n, n, layout::right, spacing::packed, 0, 0), c = a;
    c = stored_batch<float>(20, n, n, layout::right, spacing::packed, 0, 0);
    a.fill_all([] { return 1.0f; });
    a.at(7, 1, n - 1) = std::numeric_limits<float>::quiet_NaN();
    a.upload();
    stored_batch<float> b(20, n, n, layout::left, spacing::shared, 0, 0);
    b.fill_all([] { return 2.0f; });
    b.upload();
    queue q;
    gemm_batched(q, 1, a.view, b.view, 0, c.view).wait();
    c.download();
    for (index_t l = 0; l < 20; ++l)
      for (index_t i = 0; i < n; ++i)
        for (index_t j = 0; j < n; ++j) {
          if (l == 7 && i == 1)
            ASSERT_TRUE(std::isnan(c.at(l, i, j)));
          else
            ASSERT_EQ(c.at(l, i, j), 2.0f * float(n));
        }
  }
}

// On a device the call comes back long before the work is done.
TEST(GemmBatchedAsynchrony, NothingFences) {
  if (backend::traits<default_execution_space>::is_host) GTEST_SKIP() << "host backends run at the call";
  const int n = 64, batch = 20000;
  Kokkos::View<float***, Kokkos::LayoutRight, default_execution_space> a("a", batch, n, n),
      c("c", batch, n, n);
  queue q;
  gemm_batched(q, 1, a, a, 0, c).wait();
  event last = q.mark();
  for (int i = 0; i < 20; ++i) last = gemm_batched(q, 1, a, a, 0, c);
  EXPECT_FALSE(last.is_complete());
  q.wait();
  EXPECT_TRUE(last.is_complete());
}

}  // namespace

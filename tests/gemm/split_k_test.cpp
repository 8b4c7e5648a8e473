// Few tiles and a long k: GPUs divide k among teams (split_k.hpp), and hosts of several threads among these where
// they do not pack (gemm/plan/host_model.hpp; host_unpacked_test.cpp runs the same parts on one). Vectors: no
// tiles at all.
#include <algorithm>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/kernel/split_k.hpp>
#include <keramos/gemm/plan/host.hpp>
#include <keramos/gemm/plan/simt_model.hpp>

#include "gemm_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class SplitK : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(SplitK, types);

constexpr layout layouts[] = {layout::right, layout::left, layout::strided};
constexpr op ops[] = {op::N, op::T};

TYPED_TEST(SplitK, EveryOpAndLayout) {
  std::uint64_t seed = fresh_seed();
  for (layout a : layouts)
    for (layout b : layouts)
      for (layout c : layouts)
        for (op op_a : ops)
          for (op op_b : ops)
            ASSERT_TRUE(run<TypeParam>({37, 21, 1501, op_a, op_b, a, b, c, 3, 5, 1.5, 0.5}, seed++));
}

TYPED_TEST(SplitK, ShapesAndScalars) {
  std::uint64_t seed = fresh_seed();
  const double scalars[][2] = {{1, 0}, {-2, 1}, {1, 1}, {3, -0.5}};
  int which = 0;
  for (const index_t m : {2, 8, 33, 65, 130})
    for (const index_t n : {2, 7, 16, 64, 129})
      for (const index_t k : {97, 1024, 2050}) {
        gemm_case g{m, n, k};
        g.alpha = scalars[which % 4][0], g.beta = scalars[which % 4][1];
        g.op_a = ops[which % 2], g.op_b = ops[which / 2 % 2], g.c = layouts[which % 3];
        ++which;
        ASSERT_TRUE(run<TypeParam>(g, seed++));
      }
  // Hundreds of parts, which meet in more than one step.
  ASSERT_TRUE(run<TypeParam>({9, 5, 100003}, seed++));
  ASSERT_TRUE(run<TypeParam>({64, 32, 30000, op::T, op::N}, seed++));
}

TYPED_TEST(SplitK, MatrixTimesVector) {
  std::uint64_t seed = fresh_seed();
  for (layout a : layouts)
    for (layout c : layouts)
      for (op op_a : ops)
        for (const index_t gap : {0, 4, 3})
          for (const index_t rows : {1, 2, 31, 130, 1027})
            for (const index_t k : {1, 3, 70, 515}) {
              ASSERT_TRUE(run<TypeParam>({rows, 1, k, op_a, op::N, a, layout::right, c, gap, gap}, seed++));
              ASSERT_TRUE(
                  run<TypeParam>({1, rows, k, op::N, op_a, layout::left, a, c, gap, gap, 2, -1}, seed++));
            }
  ASSERT_TRUE(run<TypeParam>({1, 1, 200001}, seed++));
  ASSERT_TRUE(run<TypeParam>({3, 1, 100000, op::N, op::N, layout::left}, seed++));
  ASSERT_TRUE(run<TypeParam>({5000, 1, 40, op::N, op::N, layout::left}, seed++));
}

// NaN and infinity in the matrix or the vector come through as IEEE says; C is poison where beta is 0.
TEST(SplitKFloating, SpecialValuesComeThrough) {
  using limits = std::numeric_limits<double>;
  for (const index_t n : {1, 5}) {
    const index_t m = 70, k = 3000;
    stored_matrix<double> a(m, k, layout::right, 0, 0), b(k, n, layout::right, 0, 0),
        c(m, n, layout::right, 0, 0);
    a.fill_all([] { return 1.0; }), b.fill_all([] { return 2.0; }), c.fill_all(poison<double>);
    a.at(13, k - 1) = limits::quiet_NaN();
    a.at(41, 0) = limits::infinity();
    a.upload(), b.upload(), c.upload();
    queue q;
    gemm(q, 1, a.view, b.view, 0, c.view);
    q.wait();
    c.download();
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        if (i == 13)
          ASSERT_TRUE(std::isnan(c.at(i, j)));
        else
          ASSERT_EQ(c.at(i, j), i == 41 ? limits::infinity() : 2.0 * k) << i;
      }
  }
}

template <class T>
struct random_problem {
  using view = Kokkos::View<T**, Kokkos::LayoutRight, default_execution_space>;
  view a, b, c;

  random_problem(int m, int n, int k, std::uint64_t seed) : a("a", m, k), b("b", k, n), c("c", m, n) {
    std::mt19937_64 rng(seed);
    for (const view& x : {a, b}) {
      auto h = Kokkos::create_mirror_view(x);
      for (std::size_t i = 0; i < h.extent(0); ++i)
        for (std::size_t j = 0; j < h.extent(1); ++j) h(i, j) = random_value<T>(rng);
      Kokkos::deep_copy(x, h);
    }
  }
  void multiply(queue& q) const { gemm(q, 1, a, b, 0, c); }
  std::vector<T> result() const {
    auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
    return std::vector<T>(h.data(), h.data() + h.size());
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// Which team adds is chance; what it adds is not. Other work on the device shuffles the teams.
TYPED_TEST(SplitK, SameCallGivesTheSameBits) {
  const std::uint64_t seed = fresh_seed();
  const random_problem<TypeParam> noise(700, 700, 300, seed);
  queue q, other(queue_options{.own_instance = true});
  const int shapes[][3] = {{64, 64, 20000}, {16, 16, 30000}, {256, 256, 1000}, {33, 9, 60000},
                           {7, 5, 40000},   {300, 1, 9000},  {1, 1, 50000}};
  for (const auto& s : shapes) {
    const random_problem<TypeParam> p(s[0], s[1], s[2], seed + 1);
    p.multiply(q);
    q.wait();
    const auto first = p.result();
    for (int repeat = 0; repeat < 10; ++repeat) {
      Kokkos::deep_copy(p.c, TypeParam(7));
      Kokkos::fence();
      for (int i = 0; i <= repeat % 3; ++i) noise.multiply(other);
      p.multiply(q);
      q.wait();
      ASSERT_TRUE(same_bits(first, p.result())) << s[0] << 'x' << s[1] << 'x' << s[2];
    }
    other.wait();
  }
}

// One queue's kernels share its memory and counters, one after another, however they alternate.
TYPED_TEST(SplitK, CallsOfOneQueueFollowEachOther) {
  const std::uint64_t seed = fresh_seed();
  const int shapes[][3] = {{16, 16, 3000}, {64, 64, 30000}, {200, 200, 900}, {7, 1, 20000}, {128, 64, 5000}};
  std::vector<random_problem<TypeParam>> problems;
  std::vector<std::vector<TypeParam>> alone;
  for (const auto& s : shapes) {
    problems.emplace_back(s[0], s[1], s[2], seed + alone.size());
    queue fresh;
    problems.back().multiply(fresh);
    fresh.wait();
    alone.push_back(problems.back().result());
  }
  queue q;
  for (int round = 0; round < 3; ++round) {
    for (const auto& p : problems) Kokkos::deep_copy(p.c, TypeParam(7));
    Kokkos::fence();
    for (std::size_t i = 0; i < problems.size(); ++i) problems[(i * 3 + round) % problems.size()].multiply(q);
    q.wait();
    for (std::size_t i = 0; i < problems.size(); ++i)
      ASSERT_TRUE(same_bits(alone[i], problems[i].result())) << i << " in round " << round;
  }
}

// --- The choice, which needs no device -----------------------------------------------------------

// So that the tests above meet it: on a host whose threads are two or more.
TYPED_TEST(SplitK, HostsDivideKOfSomeShapesOfThese) {
  using namespace detail::host;
  using types = detail::types_of<TypeParam>;
  const kernel_table<types>& table = kernels<types>();
  const int shapes[][3] = {{16, 16, 30000}, {7, 5, 40000}};
  for (const auto& [m, n, k] : shapes) {
    const gemm_problem<types> p{{nullptr, k, 1}, {nullptr, 1, n}, nullptr, n, 1, m, n, k};
    for (const int threads : {2, 4, 16, 64}) {
      EXPECT_TRUE(unpacked_pays(table, p, threads))
          << m << 'x' << n << 'x' << k << " on " << threads << " threads";
      EXPECT_GT(share_out(table.nr, m, n, k, threads).parts, 1)
          << m << 'x' << n << 'x' << k << " on " << threads << " threads";
    }
  }
}

// Along m, larger than any second-level cache: a step of k is a page away.
TYPED_TEST(SplitK, HostsPackAThatSpansPages) {
  using namespace detail::host;
  using types = detail::types_of<TypeParam>;
  const kernel_table<types>& table = kernels<types>();
  const index_t m = 1 << 20, k = 2 * table.few_products;
  const auto pays = [&](index_t n, bool along_k) {
    gemm_problem<types> p{{nullptr, 1, m}, {nullptr, 1, n}, nullptr, n, 1, m, n, k};
    if (along_k) p.a.stride_mn = k, p.a.stride_k = 1;
    return unpacked_pays(table, p, 1);
  };
  const index_t wide = 2 * table.nr;  // A would be read twice
  EXPECT_TRUE(pays(wide, true));
  EXPECT_FALSE(pays(wide, false));
  EXPECT_TRUE(pays(table.nr, false));
}

using backend::simt::device_model;
using backend::simt::tile_row;
using detail::simt::choose_split;

constexpr tile_row row{
    50, backend::simt::f32, {{64, 64, 16}, {32, 32}, {8, 4, 1}, 2, 4, tiling::math_unit::fma, true}, 0.63};
constexpr device_model large{132, 228 << 10}, small{20, 64 << 10};

TEST(SplitKChoice, PartsCoverK) {
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < 1000; ++i) {
    const index_t m = 1 + rng() % 700, n = 1 + rng() % 700, k = 1 + rng() % (index_t(1) << (rng() % 24));
    const auto plan = choose_split(row, m, n, k, i % 2 ? large : small).plan;
    ASSERT_GE(plan.parts, 1);
    ASSERT_GE(index_t(plan.parts) * plan.k_per_part, k) << m << ' ' << n << ' ' << k;
    ASSERT_LT(index_t(plan.parts - 1) * plan.k_per_part, k) << m << ' ' << n << ' ' << k;
    ASSERT_EQ(plan.k_per_part % row.config.block.k, 0);
    ASSERT_TRUE(plan.parts == 1 || plan.fan_in > 1);
    ASSERT_LT(plan.whole_tiles, detail::simt::block_tiles(m, n, row.config.block));
    ASSERT_TRUE(plan.whole_tiles == 0 || plan.parts > 1);
  }
}

// Whole tiles have one rank each, the first ones, and each part of the others has one.
TEST(SplitKRanks, CoverEveryPartOnce) {
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < 1000; ++i) {
    const int tiles = 1 + int(rng() % 50), parts = 1 + int(rng() % 9);
    const int whole_tiles = parts > 1 ? int(rng() % tiles) : 0;
    const index_t k = 16 * parts - index_t(rng() % 16);
    const detail::split_k<float> split({parts, parts, 16, whole_tiles}, k, tiles);
    std::set<std::pair<int, int>> seen;
    for (int rank = 0; rank < split.ranks(); ++rank) {
      const int part = split.part_of(rank), tile = split.tile_of(rank, part);
      ASSERT_TRUE(0 <= tile && tile < tiles && 0 <= part && part < parts) << rank;
      ASSERT_TRUE(seen.insert({tile, part}).second) << rank;
      tiling::position at{};
      at.k1 = k;
      split.narrow(at, tile, part);
      if (rank < split.whole_tiles) {
        ASSERT_EQ(tile, rank);
        ASSERT_TRUE(at.k0 == 0 && at.k1 == k);
      } else {
        ASSERT_GE(tile, whole_tiles);
        ASSERT_TRUE(at.k0 == 16 * part && at.k1 == std::min<index_t>(k, at.k0 + 16));
      }
    }
    ASSERT_EQ(int(seen.size()), whole_tiles + (tiles - whole_tiles) * parts);
  }
}

TEST(SplitKChoice, FollowsShapeAndDevice) {
  EXPECT_EQ(choose_split(row, 8192, 8192, 8192, large).plan.parts, 1);
  EXPECT_GT(choose_split(row, 64, 64, 100000, large).plan.parts, 64);
  // 576 tiles for 528 teams: 48 would wait for the others. Of 528 none is left.
  const split_plan tail = choose_split(row, 1536, 1536, 1536, large).plan;
  EXPECT_EQ(tail.whole_tiles, 528);
  EXPECT_GT(tail.parts, 1);
  EXPECT_EQ(choose_split(row, 33 * 64, 16 * 64, 1536, large).plan.whole_tiles, 0);
  EXPECT_LT(choose_split(row, 64, 64, 100000, small).plan.parts,
            choose_split(row, 64, 64, 100000, large).plan.parts);
  tile_row whole = row;
  whole.config.splits_k = false;
  EXPECT_EQ(choose_split(whole, 64, 64, 100000, large).plan.parts, 1);
}

// Large sums: which places become free behind a wave is not known.
TEST(SplitKChoice, LargeSumsHaveWholeTilesInFullWaves) {
  constexpr tile_row large_tiles{50,
                                 backend::simt::f32,
                                 {{128, 128, 16}, {64, 32}, {8, 8, 1}, 2, 2, tiling::math_unit::fma, true},
                                 0.75};
  const int slots = large.units * detail::simt::resident_teams(large, large_tiles);
  int divided = 0;
  for (int n = 512; n <= 4096; n += 64) {
    const auto plan = choose_split(large_tiles, n, n, n, large).plan;
    if (plan.parts == 1) continue;
    ++divided;
    const double behind = detail::simt::block_tiles(n, n, large_tiles.config.block) - plan.whole_tiles;
    EXPECT_TRUE(plan.whole_tiles % slots == 0 || plan.whole_tiles + behind * plan.parts <= slots) << n;
    EXPECT_EQ(detail::simt::stores_sums_in_waves(large_tiles, n, n, plan, large),
              plan.whole_tiles % slots + behind * plan.parts > slots);
  }
  EXPECT_GT(divided, 10);
}

}  // namespace

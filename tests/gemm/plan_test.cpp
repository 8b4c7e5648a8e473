// The plan as a value: printed, given back, changed, refused. Same plan, same bits.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "gemm_case.hpp"
#include "last_tiles.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmPlan : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmPlan, types);

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class T>
struct matrices {
  stored_matrix<T> a, b, c;

  matrices(index_t m, index_t n, index_t k, layout l = layout::right)
      : a(m, k, l, 0, 0), b(k, n, l, 0, 0), c(m, n, l, 0, 0) {
    std::mt19937_64 rng(std::uint64_t(m) * 7919 + n * 31 + k);
    a.fill_all([&] { return random_value<T>(rng); }), b.fill_all([&] { return random_value<T>(rng); });
    a.upload(), b.upload();
  }

  std::vector<T> product(const gemm_options& options) {
    queue q;
    c.fill_all(poison<T>);
    c.upload();
    gemm(q, 1, a.view, b.view, 0, c.view, options);
    q.wait();
    c.download();
    return {c.host.data(), c.host.data() + c.host.extent(0)};
  }
  gemm_plan plan(const gemm_options& options = {}) {
    queue q;
    return plan_gemm(q, a.view, b.view, c.view, options);
  }
};

template <class T>
bool same_bits(const std::vector<T>& x, const std::vector<T>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}

// Whatever the library chooses: tiny, few rows, vectors, a divided k, strips, copies of operands that lie badly.
TYPED_TEST(GemmPlan, TheSamePlanGivesTheSameBits) {
  const index_t shapes[][3] = {{8, 4, 7},       {1, 300, 500},    {700, 1, 333},  {3, 2, 5000},
                               {16, 16, 30000}, {200, 90, 61},    {513, 520, 40}, {1025, 1023, 9},
                               {900, 901, 503}, {1550, 1503, 507}};
  std::set<gemm_path> seen;
  for (const auto& [m, n, k] : shapes)
    for (const layout l : {layout::right, layout::left}) {
      matrices<TypeParam> x(m, n, k, l);
      const gemm_plan plan = x.plan();
      SCOPED_TRACE(std::to_string(m) + " x " + std::to_string(n) + " x " + std::to_string(k) + "\n" +
                   to_string(plan));
      EXPECT_EQ(plan, x.plan());
      for (int i = 0; i < plan.size; ++i) seen.insert(plan.parts[i].path);
      const auto chosen = x.product({});
      ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
      ASSERT_TRUE(same_bits(chosen, x.product({.plan = plan})));
    }
  const std::set<gemm_path> paths = on_host ? std::set{gemm_path::tiled, gemm_path::unpacked, gemm_path::dots}
                                            : std::set{gemm_path::tiled, gemm_path::vector};
  EXPECT_EQ(seen, paths);
}

// Rectangles of any size and either way round, each on a tile of its own: judged by the reference, like all products.
TYPED_TEST(GemmPlan, ChangedPlansAreFollowed) {
  std::uint64_t seed = fresh_seed();
  std::mt19937_64 rng(seed);
  for (int round = 0; round < 40; ++round) {
    gemm_case g{2 + index_t(rng() % 150), 2 + index_t(rng() % 150), 1 + index_t(rng() % 300)};
    g.op_a = rng() % 2 ? op::N : op::T, g.op_b = rng() % 2 ? op::N : op::T;
    g.a = layout(rng() % 3), g.b = layout(rng() % 3), g.c = layout(rng() % 3);
    g.gap = rng() % 5, g.alpha = 1.5, g.beta = rng() % 2 ? -0.5 : 0;
    // Of the caller's C, whatever was chosen: some rows, and of the others some columns and the rest.
    g.change_plan = [&](gemm_plan& plan) {
      const index_t rows = 1 + index_t(rng() % (g.m - 1)), cols = 1 + index_t(rng() % (g.n - 1));
      gemm_part part = plan.parts[0];
      if (part.path != gemm_path::tiled || plan.size > 1) {
        // What one tile serves, all others do too.
        queue q;
        const stored_matrix<TypeParam> square(200, 200, layout::right, 0, 0),
            to(200, 200, layout::right, 0, 0);
        const gemm_plan large = plan_gemm(q, square.view, square.view, to.view);
        part = large.parts[0];
        if (part.path != gemm_path::tiled) part.path = gemm_path::tiled, part.block = {48, 48, 64};
      }
      part.split = {}, part.pack_a = part.pack_b = false;
      part.band_m = part.band_n = 1000;
      const auto set = [&](gemm_part& to, index_t m0, index_t n0, index_t m, index_t n) {
        to = part;
        to.m0 = m0, to.n0 = n0, to.m = m, to.n = n, to.transposed = rng() % 2;
      };
      plan.size = 3;
      set(plan.parts[0], 0, 0, rows, g.n);
      set(plan.parts[1], rows, 0, g.m - rows, cols);
      set(plan.parts[2], rows, cols, g.m - rows, g.n - cols);
      if (cols == g.n) plan.size = 2;
    };
    ASSERT_TRUE(run<TypeParam>(g, seed + round));
  }
}

TYPED_TEST(GemmPlan, KIsDividedAsThePlanSays) {
  matrices<TypeParam> x(40, 24, 4096);
  gemm_plan plan = x.plan();
  ASSERT_EQ(plan.size, 1);
  gemm_part& part = plan.parts[0];
  if (on_host) {
    part.path = gemm_path::unpacked;
    part.block = {17, 9, 512};
    part.split = {8, 8, 512};
  } else {
    part.split = {8, 3, 512};
  }
  const auto divided = x.product({.plan = plan});
  EXPECT_TRUE(same_bits(divided, x.product({.plan = plan})));
  if constexpr (!std::is_integral_v<
                    TypeParam>) {  // of 960 random sums some round elsewhere, or the plan is not followed
    part.split = {4, 3, 1024};
    if (on_host) part.block.k = 1024;
    EXPECT_FALSE(same_bits(divided, x.product({.plan = plan})));
  }
  // Integers do not care; the sums of the others round elsewhere, but not by much.
  const auto chosen = x.product({});
  for (std::size_t i = 0; i < divided.size(); ++i)
    ASSERT_NEAR(double(divided[i]), double(chosen[i]), std::is_integral_v<TypeParam> ? 0.0 : 1e-3) << i;
}

// Of each element either all of k is summed at once or its parts are, as its tile says.
TYPED_TEST(GemmPlan, FirstTilesStayWhole) {
  const index_t m = 200, n = 150, k = 2048;
  matrices<TypeParam> x(m, n, k);
  gemm_plan plan = x.plan();
  plan.size = 1;
  gemm_part& part = plan.parts[0];
  part.m0 = part.n0 = 0, part.m = m, part.n = n, part.band_m = m, part.band_n = n;
  part.pack_a = part.pack_b = false;
  if (on_host) {  // where no tile is shared
    part.path = gemm_path::unpacked, part.block = {17, 9, 512}, part.split = {4, 4, 512, 1};
    EXPECT_THROW(x.product({.plan = plan}), invalid_argument);
    return;
  }
  ASSERT_EQ(part.path, gemm_path::tiled);
  const index_t rows = part.transposed ? n : m, cols = part.transposed ? m : n;
  const int tiles = int(detail::ceil_div(rows, part.block.m) * detail::ceil_div(cols, part.block.n));
  ASSERT_GT(tiles, 1) << to_string(plan);
  part.split = {};
  const auto whole = x.product({.plan = plan});
  part.split = {4, 3, 512};
  const auto divided = x.product({.plan = plan});
  for (const int whole_tiles : {1, tiles / 2, tiles - 1}) {
    part.split.whole_tiles = whole_tiles;
    const auto some = x.product({.plan = plan});
    std::size_t as_whole = 0, as_divided = 0;
    for (std::size_t i = 0; i < some.size(); ++i) {
      ASSERT_TRUE(some[i] == whole[i] || some[i] == divided[i]) << i << ' ' << to_string(plan);
      as_whole += some[i] != divided[i], as_divided += some[i] != whole[i];
    }
    if constexpr (!std::is_integral_v<TypeParam>) {
      EXPECT_GT(as_whole, 0u) << to_string(plan);
      EXPECT_GT(as_divided, 0u) << to_string(plan);
    }
  }
  const auto is_refused = [&] {
    EXPECT_THROW(x.product({.plan = plan}), invalid_argument) << to_string(plan);
  };
  part.split.whole_tiles = tiles;
  is_refused();
  part.split.whole_tiles = 1;
  part.pack_a = true, part.band_m = rows - 1;
  is_refused();
}

// What one part leaves out another does, in the same bits.
TYPED_TEST(GemmPlan, TheLastTilesAreAnotherPart) {
  for (const layout l : {layout::right, layout::left}) {
    const index_t m = 1150, n = 1160, k = 130;
    matrices<TypeParam> x(m, n, k, l);
    gemm_plan plan = x.plan();
    plan.size = 1;
    gemm_part& part = plan.parts[0];
    part.m0 = part.n0 = 0, part.m = m, part.n = n, part.split = {}, part.pack_a = part.pack_b = false;
    part.band_m = part.transposed ? n : m, part.band_n = part.transposed ? m : n;
    part.corner_m = part.corner_n = 0;
    EXPECT_EQ(part.transposed, l == layout::left);
    const auto expect_refused = [&](const gemm_plan& given) {
      EXPECT_THROW(x.product({.plan = given}), invalid_argument) << to_string(given);
    };
    gemm_plan two = plan;
    if (on_host) {  // whose threads take tiles in turn
      two.parts[0].path = gemm_path::tiled, two.parts[0].block = {48, 48, 64};
      leave_corner(two, 48, 48);
      expect_refused(two);
      continue;
    }
    ASSERT_EQ(part.path, gemm_path::tiled);
    const auto whole = x.product({.plan = plan});
    for (const int columns : {1, 3}) {
      const auto corner = last_tiles(part, columns);
      ASSERT_LT(corner.m, part.band_m) << to_string(plan);
      leave_corner(two = plan, corner.m, corner.n);
      EXPECT_TRUE(same_bits(whole, x.product({.plan = two}))) << to_string(two);
      gemm_plan wrong = two;
      wrong.size = 1;
      expect_refused(wrong);
      wrong = two;
      wrong.parts[0].band_m -= 1;
      expect_refused(wrong);
      wrong = two;
      wrong.parts[0].split = {2, 2, 96};
      expect_refused(wrong);
      leave_corner(wrong = plan, corner.m - 1, corner.n);
      expect_refused(wrong);
      leave_corner(wrong = plan, corner.m, corner.n + 1);
      expect_refused(wrong);
    }
  }
}

TEST(GemmPlanText, SaysWhatIsDone) {
  gemm_plan plan;
  EXPECT_EQ(to_string(plan), "nothing to multiply");
  plan.size = 2;
  plan.parts[0].m = 960, plan.parts[0].n = 1000, plan.parts[0].block = {128, 64, 8}, plan.parts[0].stages = 3;
  plan.parts[0].pack_b = true;
  plan.parts[1] = plan.parts[0];
  plan.parts[1].m0 = 960, plan.parts[1].m = 4, plan.parts[1].transposed = true, plan.parts[1].pack_b = false;
  plan.parts[1].split = {4, 2, 256, 3};
  EXPECT_EQ(to_string(plan),
            "960 x 1000 of C: tiled, block tile 128x64x8, 3 stages, B packed beforehand\n"
            "4 x 1000 of C from row 960, column 0: tiled, block tile 128x64x8, 3 stages, "
            "k in 4 parts of 256, 2 added at once, but for the first 3 tiles, transposed");
  plan.size = 1, plan.parts[0].row = 0;  // of a GPU's tile table
  EXPECT_EQ(to_string(plan),
            "960 x 1000 of C: tiled by FMA units, block tile 128x64x8, 3 stages, B packed beforehand");
  plan.parts[0].corner_m = 8, plan.parts[0].corner_n = 4;
  EXPECT_EQ(to_string(plan).substr(0, 42), "960 x 1000 of C, but for the last 8 x 4: t");
  plan.parts[0].transposed = true;
  EXPECT_NE(to_string(plan).find("the last 4 x 8:"), std::string::npos);
  plan.parts[0].math = tiling::math_unit::matrix;
  EXPECT_NE(to_string(plan).find("tiled by matrix units,"), std::string::npos);
  plan.parts[0].math = tiling::math_unit::warpgroup;
  EXPECT_NE(to_string(plan).find("tiled by warpgroups,"), std::string::npos);
}

TEST(GemmPlanErrors, NothingToMultiplyNeedsNoPlan) {
  matrices<float> x(7, 5, 0);
  EXPECT_EQ(x.plan().size, 0);
  const auto c = x.product({});
  EXPECT_TRUE(std::all_of(c.begin(), c.end(), [](float e) { return e == 0; }));
}

/// The product is refused with all these words, and C is as it was.
template <class Change>
void expect_refused(const Change& change, const std::vector<std::string>& words) {
  matrices<float> x(100, 60, 300);
  gemm_plan plan = x.plan();
  change(plan);
  try {
    x.product({.plan = plan});
    ADD_FAILURE() << "not refused: " << to_string(plan);
  } catch (const error& e) {
    for (const auto& word : words) EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
  x.c.download();
  EXPECT_TRUE(std::isnan(x.c.at(0, 0)) && std::isnan(x.c.at(99, 59)));
}

TEST(GemmPlanErrors, APlanForAnotherProduct) {
  expect_refused([](gemm_plan& p) { p.k = 301; },
                 {"options.plan is for m x n x k = 100 x 60 x 301", "100 x 60 x 300 of f32", "plan_gemm"});
  expect_refused([](gemm_plan& p) { p.type = "f64"; }, {"of f64", "of f32"});
  expect_refused([](gemm_plan& p) { p.backend = "Abacus"; }, {"on Abacus"});
}
TEST(GemmPlanErrors, PartsThatDoNotMakeUpC) {
  expect_refused([](gemm_plan& p) { p.size = 0; }, {"has 0 parts"});
  expect_refused([](gemm_plan& p) { p.parts[0].m = 99; }, {"do not make up C", "100 x 60"});
  expect_refused([](gemm_plan& p) { p.parts[0].m0 = 1; }, {"part 0 of options.plan is not inside C"});
  expect_refused([](gemm_plan& p) { p.parts[1] = p.parts[0], p.size = 2; }, {"part 1", "overlaps part 0"});
}
TEST(GemmPlanErrors, WhatNoKernelDoes) {
  expect_refused([](gemm_plan& p) { p.parts[0].path = gemm_path::tiled, p.parts[0].block.k = 0; },
                 {"has a block tile of", "2^20"});
  expect_refused([](gemm_plan& p) { p.parts[0].split = {7, 7, 10}; }, {"k = 300 into 7 parts of 10"});
  expect_refused([](gemm_plan& p) { p.parts[0].path = on_host ? gemm_path::vector : gemm_path::unpacked; },
                 {on_host ? "is for a kernel of GPUs" : "is for a kernel of hosts"});
  if (on_host) {
    expect_refused([](gemm_plan& p) { p.parts[0].path = gemm_path::residues; }, {"is for a kernel of GPUs"});
    expect_refused([](gemm_plan& p) { p.parts[0].path = gemm_path::dots; }, {"dot products of at most"});
    expect_refused(
        [](gemm_plan& p) {
          p.parts[0].path = gemm_path::tiled, p.parts[0].split = {}, p.parts[0].band_n = 60;
          p.parts[0].block = {16, 47, 64}, p.parts[0].pack_b = true;
        },
        {"packs B beforehand, in panels of", "16x47x64"});
  } else {
    expect_refused([](gemm_plan& p) { p.parts[0].path = gemm_path::tiled, p.parts[0].row = 99; },
                   {"names row 99 of the tile table"});
    expect_refused(
        [](gemm_plan& p) {
          p.parts[0].path = gemm_path::tiled, p.parts[0].math = tiling::math_unit::warpgroup;
        },
        {"by warpgroups, but row", "by FMA units"});
  }
}
// Kernels of hosts that do not pack count columns by an int, which overflowed in the last block.
TEST(GemmPlan, VeryManyColumnsGoInTiles) {
  queue q;
  for (const index_t less : {1000, 2000, 20000, 60000}) {
    const index_t n = (index_t(1) << 31) - less;
    const auto at = [](std::uintptr_t gib) { return reinterpret_cast<float*>(gib << 30); };
    const matrix_view<float> a{at(1), 3, 1, 1, 1}, b{at(2), 1, n, n, 1}, c{at(100), 3, n, n, 1};
    const gemm_plan plan = plan_gemm(q, a, b, c);
    for (int i = 0; i < plan.size; ++i) EXPECT_EQ(plan.parts[i].path, gemm_path::tiled) << to_string(plan);
  }
}
TEST(GemmPlanErrors, ATileThatDoesNotFit) {
  if (on_host)
    expect_refused(
        [](gemm_plan& p) {
          p.parts[0].path = gemm_path::tiled, p.parts[0].band_n = 60, p.parts[0].split = {};
          p.parts[0].block = {9999, 9999, 9999};
        },
        {"options.plan has a block tile of 9999x9999x9999", "bytes of local memory", "pass"});
  else
    expect_refused([](gemm_plan& p) { p.parts[0].path = gemm_path::tiled, p.parts[0].block.m += 1; },
                   {"has a block tile of", "of the tile table has"});
}

// Parts are looked at before the first of them is launched.
TEST(GemmPlanErrors, ALaterPartThatCannotBeDone) {
  expect_refused(
      [](gemm_plan& p) {
        gemm_part& first = p.parts[0];
        first.path = gemm_path::tiled, first.split = {}, first.band_m = 100, first.band_n = 60;
        first.transposed = first.pack_a = first.pack_b = false;
        if (on_host) first.block = {48, 48, 64};
        first.m = 50;
        p.parts[1] = first;
        p.parts[1].m0 = 50;
        p.parts[1].block = {9999, 9999, 9999};
        p.size = 2;
      },
      on_host
          ? std::vector<std::string>{"block tile of 9999x9999x9999", "bytes of local memory"}
          : std::vector<std::string>{"part 1 of options.plan", "9999x9999x9999", "of the tile table has"});
}
TEST(GemmPlanErrors, SumsThatDoNotMeet) {
  expect_refused(
      [](gemm_plan& p) {
        p.parts[0].split = {3, 1, 100};
      },
      {"adds 1 at once", "at least 1 and 2"});
  expect_refused([](gemm_plan& p) { p.parts[0].split = {0, 1, 300}; }, {"divides k into 0 parts"});
  expect_refused([](gemm_plan& p) { p.parts[0].split = {3, 2, 90}; }, {"does not come out even"});
  for (const split_plan& split : {split_plan{1, 1, 300, 2}, split_plan{3, 2, 100, -2}})
    expect_refused([&](gemm_plan& p) { p.parts[0].split = split; },
                   {"has " + std::to_string(split.whole_tiles) + " whole tiles", "otherwise 0"});
}
TEST(GemmPlanErrors, CornersThatAreNone) {
  const index_t corners[][2] = {{-1, -1}, {0, 5}, {5, 0}, {101, 1}, {1, 101}};
  for (const auto& corner : corners)
    expect_refused(
        [&](gemm_plan& p) { p.parts[0].corner_m = corner[0], p.parts[0].corner_n = corner[1]; },
        {"leaves out a corner of " + std::to_string(corner[0]) + " x " + std::to_string(corner[1])});
}
TEST(GemmPlanErrors, BandsWithoutColumns) {
  expect_refused(
      [](gemm_plan& p) {
        gemm_part& part = p.parts[0];
        part.path = gemm_path::tiled, part.split = {}, part.band_m = 100, part.band_n = 0;
        if (on_host) part.block = {48, 48, 64};
      },
      {on_host ? "has bands of 0 columns" : "has bands without rows or columns"});
}

}  // namespace

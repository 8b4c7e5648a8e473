// Epilogues of callers in the block tiles of warpgroups. Each file that includes this has one type, since kernels take minutes
// to compile; they are compiled for warpgroups (keramos_add_fused_sources). Tiles are asked for by name; hosts take blocks of
// any size, and other GPUs, or a Kokkos that gives less local memory, refuse them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "fused_case.hpp"
#include "last_tiles.hpp"

namespace keramos::test {
namespace {

// The place of an element, small enough for bytes; C's old one where it reads C.
KERAMOS_FUNCTION float place_code(index_t i, index_t j, index_t batch) {
  return float((i * 31 + j * 17 + batch * 101) % 101) - 50;
}
struct adds_place {
  bool reads;

  KERAMOS_FUNCTION bool reads_c() const { return reads; }
  KERAMOS_FUNCTION float operator()(float acc, float c, index_t i, index_t j, index_t batch) const {
    return acc + place_code(i, j, batch) + 2 * c;
  }
  KERAMOS_FUNCTION float operator()(float acc, index_t i, index_t j, index_t batch) const {
    return acc + place_code(i, j, batch);
  }
};

// Whole numbers, whose sums are exact; C has them rounded, or of bytes kept within their range.
template <class Elements>
struct whole_operands {
  using A = typename Elements::a;
  using B = typename Elements::b;
  using C = typename Elements::c;

  stored_matrix<A> a;
  stored_matrix<B> b;
  stored_matrix<C> c;
  std::vector<float> before;

  whole_operands(index_t m, index_t n, index_t k, layout la, layout lb, layout lc, index_t gap,
                 std::uint64_t seed)
      : a(m, k, la, gap, gap), b(k, n, lb, gap, gap), c(m, n, lc, gap, gap) {
    std::mt19937_64 rng(seed);
    a.fill_all(poison<A>), b.fill_all(poison<B>), c.fill_all(poison<C>);
    const auto fill = [&]<class T>(stored_matrix<T>& x) {
      for (index_t i = 0; i < x.view.rows; ++i)
        for (index_t j = 0; j < x.view.cols; ++j)
          x.at(i, j) = T(int(rng() % 7) - (std::is_unsigned_v<T> ? 0 : 3));
      x.upload();
    };
    fill(a), fill(b), fill(c);
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) before.push_back(float(c.at(i, j)));
  }

  static C rounded(float x) {
    if constexpr (sizeof(C) == 1) {
      constexpr float low = std::numeric_limits<C>::min(), high = std::numeric_limits<C>::max();
      return C(int(std::rint(x < low ? low : x > high ? high : x)));
    } else {
      return C(x);
    }
  }

  testing::AssertionResult judge(bool reads, index_t batch) {
    c.download();
    const reference_sums sums(a.applied(), b.applied(), c.view.rows, c.view.cols, a.view.cols);
    for (index_t i = 0; i < c.view.rows; ++i)
      for (index_t j = 0; j < c.view.cols; ++j) {
        const float old = before[std::size_t(i * c.view.cols + j)];
        const auto product = sums(i, j).value;
        const float sum = std::is_unsigned_v<std::remove_cv_t<decltype(product)>>
                              ? float(std::int32_t(product))
                              : float(product);
        const C expected = rounded(sum + place_code(i, j, batch) + (reads ? 2 * old : 0));
        if (!(c.at(i, j) == expected))
          return testing::AssertionFailure()
                 << c.view.rows << 'x' << c.view.cols << 'x' << a.view.cols << ", problem " << batch << ": C("
                 << i << ", " << j << ") is " << float(c.at(i, j)) << ", not " << float(expected);
      }
    return testing::AssertionSuccess();
  }
};

template <class Elements>
class FusedWarpgroups : public testing::Test {
 protected:
  using a = typename Elements::a;
  static constexpr int k_tile = 128 / int(sizeof(a));
  static constexpr tiling::shape blocks[6] = {{128, 256, k_tile}, {128, 192, k_tile},   {128, 128, k_tile},
                                              {64, 128, k_tile},  {64, 64, k_tile / 2},  // by mma.sync
                                              {128, 64, k_tile}};

  /// The tile's part of a plan, if the device has the tile and the local memory for it.
  static std::optional<gemm_part> part_of(const tiling::shape& block) {
    whole_operands<Elements> x(64, 64, 64, layout::right, layout::right, layout::right, 0, 1);
    queue q;
    try {
      const gemm_part part =
          plan_gemm(q, x.a.view, x.b.view, x.c.view, adds_place{true}, {.block = block}).parts[0];
      using traits = backend::traits<default_execution_space>;
      if (on_host || part.local_bytes <= traits::local_memory_limit(q.execution_space(), part.team_size))
        return part;
    } catch (const launch_error&) {
    }
    return {};
  }
  static bool has(const tiling::shape& block) { return part_of(block).has_value(); }
};
TYPED_TEST_SUITE_P(FusedWarpgroups);

// Aligned rows and others, every layout, whole tiles and edges, with C read and not.
TYPED_TEST_P(FusedWarpgroups, PlacesInEveryLayout) {
  const index_t sizes[][3] = {{272, 304, 80}, {129, 257, 129}, {5, 300, 333}, {64, 512, 16}};
  const layout layouts[] = {layout::right, layout::left, layout::strided};
  std::mt19937_64 rng(fresh_seed());
  for (const tiling::shape& block : this->blocks) {
    if (!this->has(block)) continue;
    if (on_host && block.m == 128 && block.n != 256) continue;  // the largest and the smaller ones there
    for (const auto& [m, n, k] : sizes)
      for (const layout lc : layouts)
        for (const bool reads : {false, true}) {
          const layout la = layouts[rng() % 3], lb = layouts[rng() % 3];
          whole_operands<TypeParam> x(m, n, k, la, lb, lc, rng() % 2 * 3, rng());
          queue q;
          const adds_place e{reads};
          const gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, e, {.block = block});
          SCOPED_TRACE(to_string(plan));
          gemm(q, x.a.view, x.b.view, x.c.view, e, {.plan = plan});
          q.wait();
          EXPECT_TRUE(x.judge(reads, 0));
        }
  }
}

// The epilogue is applied once all parts of k are added.
TYPED_TEST_P(FusedWarpgroups, DividedK) {
  std::mt19937_64 rng(fresh_seed());
  const tiling::shape block = this->blocks[3];
  if (!this->has(block)) return;
  for (const bool reads : {false, true}) {
    whole_operands<TypeParam> x(200, 272, 512, layout::right, layout::left, layout::right, 0, rng());
    queue q;
    const adds_place e{reads};
    gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, e, {.block = block});
    ASSERT_EQ(plan.size, 1);
    if (!on_host) plan.parts[0].split = {4, 3, 128, reads ? 7 : 0};
    gemm(q, x.a.view, x.b.view, x.c.view, e, {.plan = plan});
    q.wait();
    EXPECT_TRUE(x.judge(reads, 0)) << to_string(plan);
  }
}

// Teams take turns until the last of their tiles; those in a corner are another part's, in the caller's rows and columns too.
TYPED_TEST_P(FusedWarpgroups, TheLastTilesAreAnotherPart) {
  if (on_host) GTEST_SKIP() << "tiles of hosts leave no corner to another part";
  std::mt19937_64 rng(fresh_seed());
  for (const tiling::shape& block : this->blocks) {
    if (!this->has(block)) continue;
    for (const bool reads : {false, true}) {
      whole_operands<TypeParam> x(1299, 1111, 150, layout::right, layout::left, layout::right, 0, rng());
      queue q;
      const adds_place e{reads};
      gemm_plan plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, e, {.block = block});
      ASSERT_EQ(plan.size, 1);
      plan.parts[0].split = {};
      const auto corner = last_tiles(plan.parts[0], 2);
      leave_corner(plan, corner.m, corner.n);
      gemm(q, x.a.view, x.b.view, x.c.view, e, {.plan = plan});
      q.wait();
      EXPECT_TRUE(x.judge(reads, 0)) << to_string(plan);
    }
  }
}

// A caller's epilogue has the tile that the library's has, and takes a plan that was made for that.
TYPED_TEST_P(FusedWarpgroups, PlannedLikeTheLibrarys) {
  const index_t extent = on_host ? 96 : 1024;
  whole_operands<TypeParam> x(extent, extent, 64, layout::right, layout::left, layout::right, 0,
                              fresh_seed());
  queue q;
  const adds_place e{false};
  const gemm_plan own = plan_gemm(q, x.a.view, x.b.view, x.c.view, e),
                  of_library = plan_gemm(q, x.a.view, x.b.view, x.c.view);
  EXPECT_EQ(to_string(own), to_string(of_library));
#if defined(KERAMOS_FUSES_ON_WARPGROUPS) && defined(KERAMOS_CUDA_WIDE_SCRATCH)
  ASSERT_TRUE(this->has(this->blocks[0]));
  EXPECT_EQ(this->part_of(this->blocks[0])->math, tiling::math_unit::warpgroup);
#endif
  for (const gemm_plan& plan : {own, of_library}) {
    gemm(q, x.a.view, x.b.view, x.c.view, e, {.plan = plan});
    q.wait();
    EXPECT_TRUE(x.judge(false, 0)) << to_string(plan);
  }
}

// Problems of a list, each with its number.
TYPED_TEST_P(FusedWarpgroups, Lists) {
  std::mt19937_64 rng(fresh_seed());
  std::vector<whole_operands<TypeParam>> all;
  all.reserve(3);
  for (const auto& [m, n, k] : {std::array<index_t, 3>{256, 320, 128}, {130, 640, 64}, {1, 70, 0}})
    all.emplace_back(m, n, k, layout::right, layout::left, layout::right, 0, rng());
  std::vector<decltype(all[0].a.view)> a;
  std::vector<decltype(all[0].b.view)> b;
  std::vector<decltype(all[0].c.view)> c;
  for (const auto& x : all) a.push_back(x.a.view), b.push_back(x.b.view), c.push_back(x.c.view);
  queue q;
  gemm_batched(q, a, b, c, adds_place{true});
  q.wait();
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_TRUE(all[i].judge(true, index_t(i)));
}

REGISTER_TYPED_TEST_SUITE_P(FusedWarpgroups, PlacesInEveryLayout, DividedK, TheLastTilesAreAnotherPart,
                            PlannedLikeTheLibrarys, Lists);

}  // namespace
}  // namespace keramos::test

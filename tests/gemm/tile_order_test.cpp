#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <type_traits>
#include <utility>

#include <keramos/base/divisor.hpp>
#include <keramos/gemm/kernel/tile_order.hpp>
#include <keramos/gemm/plan.hpp>

namespace {

using namespace keramos;

// Where quotients change, for small divisors and large ones, and for the largest numbers.
TEST(Divisor, GivesTheQuotientsOfDivision) {
  constexpr int most = std::numeric_limits<int>::max();
  std::mt19937 rng(1);
  const auto check = [](int n, int by) {
    ASSERT_EQ(detail::divisor(by).quotient(n), n / by) << n << " by " << by;
  };
  const auto check_near_multiples = [&](int by) {
    for (const int n : {0, by - 1, by, most / by * by - 1, most / by * by, most - 1, most}) check(n, by);
    for (int i = 0; i < 20; ++i) {
      const int multiple = int(rng() % unsigned(most / by) + 1) * by;
      check(multiple, by);
      check(multiple - 1, by);
      check(int(rng() & unsigned(most)), by);
    }
  };
  for (int by = 1; by <= 5000; ++by) check_near_multiples(by);
  for (int bit = 13; bit < 31; ++bit)
    for (const int on : {-1, 0, 1}) check_near_multiples((1 << bit) + on);
  for (int i = 0; i < 5000; ++i) check_near_multiples(int(rng() & unsigned(most)) | 1);
  check_near_multiples(most);
  EXPECT_EQ(detail::divisor(0).quotient(7), 7) << "of no tiles";
}

TEST(TileOrder, APartThatLeavesNoCornerLeavesNoTiles) {
  EXPECT_EQ(detail::corner_of(gemm_part()).tiles(), 0);
}

// A corner is the last tiles of an order, all of them and no others.
TEST(TileOrder, TheLastTilesAreACorner) {
  const tiling::shape block{16, 32, 8};
  for (int tiles_m : {1, 3, 8, 9, 15, 16, 20})
    for (int tiles_n : {2, 5, 7}) {
      const index_t m = 16 * tiles_m - 5, n = 32 * tiles_n - 31;
      const detail::tile_order order = detail::order_of(m, n, block);
      for (int columns = 1; columns < tiles_n; ++columns) {
        const auto corner = detail::corner_of(m, n, block, columns);
        ASSERT_EQ((m - corner.m) % block.m, 0);
        ASSERT_EQ((n - corner.n) % block.n, 0);
        gemm_part part;
        part.block = block, part.corner_m = corner.m, part.corner_n = corner.n;
        ASSERT_EQ(detail::corner_of(part), corner) << "tiles of a corner of which a plan has the extents";
        for (int rank = 0; rank < order.count(); ++rank) {
          const tiling::position at = order.at(rank, block, m, n, 100);
          ASSERT_EQ(at.m0 >= m - corner.m && at.n0 >= n - corner.n, rank >= order.count() - corner.tiles())
              << tiles_m << ' ' << tiles_n << ' ' << columns << ' ' << rank;
        }
      }
    }
}

TEST(TileOrder, VisitsEveryTileOnceAndCutsItToC) {
  const tiling::shape block{16, 32, 8};
  for (int tiles_m : {1, 3, 8, 9, 20})
    for (int tiles_n : {1, 2, 7})
      for (int band : {1, 4, 8}) {
        const index_t m = 16 * tiles_m - 5, n = 32 * tiles_n - 31, k = 100;
        const detail::tile_order order{tiles_m, tiles_n, band};
        std::set<std::pair<index_t, index_t>> seen;
        index_t elements = 0;
        for (int rank = 0; rank < order.count(); ++rank) {
          const tiling::position at = order.at(rank, block, m, n, k);
          ASSERT_EQ(at.m0 % block.m, 0);
          ASSERT_EQ(at.n0 % block.n, 0);
          ASSERT_TRUE(at.rows > 0 && at.m0 + at.rows <= m && at.cols > 0 && at.n0 + at.cols <= n);
          ASSERT_TRUE(at.k0 == 0 && at.k1 == k);
          ASSERT_TRUE(seen.emplace(at.m0, at.n0).second) << "tile visited twice";
          elements += index_t(at.rows) * at.cols;
          if (band == order.usual_band) {
            const tiling::position same = detail::tile_order::at(rank, tiles_m, tiles_n, block, m, n, k);
            ASSERT_TRUE(same.m0 == at.m0 && same.n0 == at.n0 && same.rows == at.rows && same.cols == at.cols);
          }
        }
        EXPECT_EQ(elements, m * n);
      }
}

TEST(TileOrder, TeamsOfADieHaveRanksThatFollowEachOther) {
  for (int dies : {1, 2, 3, 6, 8})
    for (int teams = 1; teams <= 100; ++teams) {
      const detail::dealt_teams<true> dealt{dies};
      std::set<int> ranks;
      for (int team = 0; team < teams; ++team) {
        const int rank = dealt.rank_of(team, teams);
        ASSERT_TRUE(rank >= 0 && rank < teams && ranks.insert(rank).second) << team << " of " << teams;
        if (team >= dies) {
          ASSERT_EQ(rank, dealt.rank_of(team - dies, teams) + 1) << team << " of " << teams;
        }
        if (dies == 1) {
          ASSERT_EQ(rank, team);
        }
      }
    }
  EXPECT_TRUE((std::is_empty_v<detail::dealt_teams<false>>)) << "kernels of other devices have nothing of it";
}

TEST(TileOrder, TilesThatBeginEarlyAreWholeAndLeaveWhatTheyShare) {
  const tiling::shape block{16, 32, 8};
  for (const index_t m : {16, 17, 31, 40})
    for (const index_t n : {32, 33, 100}) {
      const int tiles_m = int((m + 15) / 16), tiles_n = int((n + 31) / 32);
      const detail::shifting_order order{{tiles_m, tiles_n, 8}, true, true};
      std::set<std::pair<index_t, index_t>> written;
      for (int rank = 0; rank < order.count(); ++rank) {
        const tiling::shifted_position at = order.at(rank, block, m, n, 100);
        ASSERT_TRUE(at.rows == block.m && at.cols == block.n);
        ASSERT_TRUE(at.m0 >= 0 && at.m0 + at.rows <= m && at.n0 >= 0 && at.n0 + at.cols <= n);
        for (int i = at.skip_m; i < at.rows; ++i)
          for (int j = at.skip_n; j < at.cols; ++j)
            ASSERT_TRUE(written.emplace(at.m0 + i, at.n0 + j).second) << "written twice";
      }
      EXPECT_EQ(index_t(written.size()), m * n);
    }
}

TEST(TileOrder, ABandKeepsToItsRows) {
  const detail::tile_order order{8, 10, 4};
  for (int rank = 0; rank < 40; ++rank)
    EXPECT_LT(order.at(rank, {16, 16, 8}, 128, 160, 8).m0, 4 * 16) << "the first band has four tile rows";
}

}  // namespace

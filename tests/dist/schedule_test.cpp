// Schedules, without ranks: they are functions of extents, ranks, bytes and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <keramos/dist/schedule.hpp>
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using dist::choose_schedule;

/// The bound of Kwasniewski et al. (SC'19, section 6) for ranks that hold s elements: blocks of C of a x a.
double cosma_bound(double m, double n, double k, double p, double s) {
  const double a = std::min(std::sqrt(s), std::cbrt(m * n * k / p));
  return 2 * m * n * k / (p * a) + a * a;
}

// What the layouts say that ranks hold is what is counted, and every element of the box is multiplied once.
TEST(DistSchedule, LayoutsCoverTheMatrices) {
  std::mt19937 random(7);
  for (int c = 0; c < 100; ++c) {
    const auto extent = [&] { return index_t(1 + random() % 60); };
    const index_t m = extent(), n = extent(), k = extent();
    auto s = choose_schedule(m, n, k, 1 + int(random() % 40));
    s.step = 1 + index_t(random()) % 9;
    if (random() % 2) s.first_step = 1 + index_t(random()) % s.step;
    if (random() % 2) {
      for (int rank = s.ranks; rank > 0; --rank) s.ranks_of_places.push_back(rank - 1);
      s.ranks_of_places.resize(std::size_t(s.places()));
    }
    if (s.pk == 1) {
      const auto blocks = [&](index_t e, int parts) {
        return dist::dealt_blocks{1 + index_t(random()) % e, 1 + index_t(random()) % e,
                                  int(random() % unsigned(parts))};
      };
      if (random() % 2) s.row_blocks = blocks(m, s.pm);
      if (random() % 2) s.col_blocks = blocks(n, s.pn);
      if (random() % 2) s.a_blocks = blocks(k, s.pn);
      if (random() % 2) s.b_blocks = blocks(k, s.pm);
    }
    SCOPED_TRACE(s.to_string());
    const auto a = s.layout_a(), b = s.layout_b(), sums = s.layout_sums();
    ASSERT_EQ(std::pair(a.rows(), a.cols()), std::pair(m, k));
    ASSERT_EQ(std::pair(b.rows(), b.cols()), std::pair(k, n));
    ASSERT_EQ(std::pair(sums.rows(), sums.cols()), std::pair(m, n));
    ASSERT_LE(s.pm * s.pn * s.pk, s.ranks);
    for (int im = 0; im < s.pm; ++im)
      for (int in = 0; in < s.pn; ++in) {
        ASSERT_EQ(a.part_extents(s.rank_of(im, in, 0)).rows, s.rows_of(im));
        ASSERT_EQ(b.part_extents(s.rank_of(im, in, 0)).cols, s.cols_of(in));
        ASSERT_LE(s.rows_of(im), s.largest_box().m);
        ASSERT_LE(s.cols_of(in), s.largest_box().n);
      }
    for (index_t i = 0; i < m; i += 7)
      for (index_t l = 0; l < k; ++l) {
        int im, in, ik, jm, jn, jk;
        ASSERT_TRUE(s.place(a.owner(i, l), im, in, ik));
        for (index_t j = 0; j < n;
             j += 5) {  // the rank with A's row and B's column is where this part of k is multiplied
          ASSERT_TRUE(s.place(b.owner(l, j), jm, jn, jk));
          ASSERT_EQ(ik, jk);
          int cm, cn, ck;
          ASSERT_TRUE(s.place(sums.owner(i, j), cm, cn, ck));
          ASSERT_EQ(std::pair(cm, cn), std::pair(im, jn));
        }
      }
  }
}

TEST(DistSchedule, RanksTouchAtMostTenPercentMoreThanTheBound) {
  std::mt19937 random(11);
  std::uniform_real_distribution<double> lg(8, 15);
  std::vector<double> ratios;
  for (int c = 0; c < 100; ++c) {
    const index_t m = index_t(std::exp2(lg(random))), n = index_t(std::exp2(lg(random))),
                  k = index_t(std::exp2(lg(random)));
    const int ranks = 2 + int(random() % 9999);
    const auto s = choose_schedule(m, n, k, ranks);
    // COSMA's bound is the tight one wherever the cube fits into the box; elsewhere no schedule reaches it.
    EXPECT_GE(s.touched_bound() * 1.0001, 8 * cosma_bound(double(m), double(n), double(k), ranks, 1e30));
    double received = 0;  // what is theirs they do not receive
    for (int rank = 0; rank < s.ranks; ++rank) received += double(s.panel_bytes(rank) + s.sum_bytes(rank));
    EXPECT_LE(received, s.touched() * s.pm * s.pn * s.pk);
    EXPECT_LE(received, double(s.volume()) * s.pm * s.pn * s.pk);
    ratios.push_back(s.touched() / s.touched_bound());
    EXPECT_GE(ratios.back(), 0.9999);
    EXPECT_LE(ratios.back(), 1.10) << s.to_string();
  }
  std::sort(ratios.begin(), ratios.end());
  std::cout << "touched, of the bound: median " << ratios[50] << ", 95 of 100 below " << ratios[94]
            << ", largest " << ratios[99] << "\n";
}

// On few ranks, whose numbers have few divisors, no grid may come near the bound: the best that there is is chosen.
TEST(DistSchedule, NoGridOfAsMuchWorkMovesLess) {
  std::mt19937 random(13);
  for (int c = 0; c < 300; ++c) {
    const auto extent = [&] { return index_t(1 + random() % 3000); };
    const index_t m = extent(), n = extent(), k = extent();
    const int ranks = 1 + int(random() % 32);
    const auto s = choose_schedule(m, n, k, ranks);
    const auto work = [&](int pm, int pn, int pk) {
      return double(detail::ceil_div(m, pm)) * double(detail::ceil_div(n, pn)) *
             double(detail::ceil_div(k, pk));
    };
    const auto bytes = [&](int pm, int pn, int pk) {
      const double x = double(detail::ceil_div(m, pm)), y = double(detail::ceil_div(n, pn)),
                   z = double(detail::ceil_div(k, pk));
      return 8 * (x * z * (pn - 1) / pn + y * z * (pm - 1) / pm + x * y * (pk - 1) / pk);
    };
    double least = 1e300;
    const auto all = [&](const auto& f) {
      for (int pm = 1; pm <= ranks; ++pm)
        for (int pn = 1; pm * pn <= ranks; ++pn)
          for (int pk = 1; pm * pn * pk <= ranks; ++pk) f(pm, pn, pk);
    };
    all([&](int pm, int pn, int pk) { least = std::min(least, work(pm, pn, pk)); });
    ASSERT_LE(work(s.pm, s.pn, s.pk), least * 25 / 24 * 1.0001) << s.to_string();
    all([&](int pm, int pn, int pk) {
      if (pm > m || pn > n || pk > k || work(pm, pn, pk) > least * 25 / 24) return;
      ASSERT_GE(bytes(pm, pn, pk) * 1.0001, bytes(s.pm, s.pn, s.pk)) << s.to_string() << pm << pn << pk;
    });
  }
}

TEST(DistSchedule, LittleMemoryCostsVolumeAndIsKept) {
  const auto free = choose_schedule(8192, 8192, 8192, 64);
  EXPECT_EQ(std::tuple(free.pm, free.pn, free.pk), std::tuple(4, 4, 4));
  const index_t operands = 3 * index_t(8192) * 8192 / 64 * 8;
  const auto little = choose_schedule(8192, 8192, 8192, 64, {}, operands + operands / 4);
  EXPECT_EQ(little.pk, 1);
  EXPECT_LE(little.memory(), operands + operands / 4);
  EXPECT_GT(little.volume(), free.volume());
  // With so little memory that sums are all it holds, the bound is that of the memory.
  EXPECT_LE(little.touched(), 1.1 * 8 * cosma_bound(8192, 8192, 8192, 64, 8192. * 8192 / 64));
  try {
    choose_schedule(8192, 8192, 8192, 64, {}, operands / 2);
    FAIL() << "refuses nothing";
  } catch (const memory_error& e) {
    EXPECT_NE(std::string(e.what()).find("needs "), std::string::npos) << e.what();
  }
}

TEST(DistSchedule, EdgesAndText) {
  for (const index_t m : {0, 1, 5})
    for (const index_t n : {0, 1, 5})
      for (const index_t k : {0, 1, 5}) {
        const auto s = choose_schedule(m, n, k, 7);
        EXPECT_LE(s.pm, std::max<index_t>(1, m));
        EXPECT_EQ(s.layout_a().rows(), m);
        EXPECT_EQ(s.layout_b().cols(), n);
        EXPECT_EQ(s.layout_sums().cols(), n);
      }
  EXPECT_EQ(choose_schedule(100000, 3, 3, 8).pm, 8);
  EXPECT_EQ(choose_schedule(3, 3, 100000, 8).pk, 8);
  EXPECT_THROW(choose_schedule(-1, 1, 1, 1), invalid_argument);
  EXPECT_THROW(choose_schedule(1, 1, 1, 0), invalid_argument);
  EXPECT_NE(choose_schedule(1000, 1000, 1000, 4).to_string().find("on 4 of 4 ranks: grid 2 x 2 x 1"),
            std::string::npos)
      << choose_schedule(1000, 1000, 1000, 4).to_string();
}

// Where a machine moves far more of its memory than it receives, sums are read and written a few times only, and the first
// panels, for which the product waits, are short.
TEST(DistSchedule, StepsAreLongWhereSumsCostTime) {
  const index_t n = 8192;
  const auto s = choose_schedule(n, n, n, 2, {}, dist::unlimited_memory, 12);
  SCOPED_TRACE(s.to_string());
  EXPECT_GE(s.steps(), 2);
  EXPECT_LE(s.steps(), 4);
  EXPECT_LE(4 * s.first(), s.step);
  EXPECT_EQ(s.step_begin(0, 1), s.first());
  EXPECT_EQ(s.step_begin(0, s.steps()), n);
  EXPECT_GT(choose_schedule(n, n, n, 2).steps(), 8);
  const index_t less = s.memory() - s.step * n / 2;
  const auto lean = choose_schedule(n, n, n, 2, {}, less, 12);
  EXPECT_LE(lean.memory(), less);
  EXPECT_LT(lean.step, s.step);
}

}  // namespace

// Schedules, without ranks: they are functions of extents, ranks, bytes and memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include <keramos/dist/schedule.hpp>
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using dist::choose_schedule;
using dist::layout;

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
    if (random() % 3 == 0) {
      s.step = std::max<index_t>(1, (k + s.pk - 1) / s.pk), s.first_step = 0;
      s.first_sixteenths = int(random() % 16);
    }
    SCOPED_TRACE(s.to_string());
    const auto copied_a = s.layout_a(true), copied_b = s.layout_b(true);
    ASSERT_EQ(copied_a.sizes(), s.layout_a().sizes());
    ASSERT_EQ(copied_b.sizes(), s.layout_b().sizes());
    for (int in = 0; in < s.pn; ++in)
      for (int im = 0; im < s.pm; ++im) {
        const int rank = s.rank_of(im, in, 0);
        ASSERT_EQ(copied_a.part_extents(rank).rows, s.first_rows(im));
        ASSERT_EQ(copied_b.part_extents(rank).cols, s.first_cols(in));
        if (copied_a.parts(rank) > 1) {
          ASSERT_EQ(copied_a.part_extents(rank, 1).rows, s.rows_of(im) - s.first_rows(im));
        }
        if (copied_b.parts(rank) > 1) {
          ASSERT_EQ(copied_b.part_extents(rank, 1).cols, s.cols_of(in) - s.first_cols(in));
        }
      }
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
  const auto s = choose_schedule(n, n, n, 4, {}, dist::unlimited_memory, 12);
  SCOPED_TRACE(s.to_string());
  EXPECT_GE(s.steps(), 2);
  EXPECT_LE(s.steps(), 4);
  EXPECT_LE(4 * s.first(), s.step);
  EXPECT_EQ(s.step_begin(0, 1), s.first());
  EXPECT_EQ(s.step_begin(0, s.steps()), n);
  EXPECT_GT(choose_schedule(n, n, n, 4).steps(), 8);
  const index_t less = s.memory() - s.step * n / 2;
  const auto lean = choose_schedule(n, n, n, 4, {}, less, 12);
  EXPECT_LE(lean.memory(), less);
  EXPECT_LT(lean.step, s.step);
}

// On two ranks one step in two stages is enough, if panels are long.
TEST(DistSchedule, OneStepIsCutWherePanelsAreLong) {
  const auto of = [](index_t n, dist::element_bytes bytes) {
    return choose_schedule(n, n, n, 2, bytes, dist::unlimited_memory, 12);
  };
  EXPECT_EQ(std::pair(of(8192, {}).steps(), of(8192, {}).first_sixteenths), std::pair(1, 4));
  EXPECT_EQ(of(8192, {4, 4, 4}).stages(), 2);
  EXPECT_GT(of(4096, {}).steps(), 1);
  EXPECT_EQ(of(4096, {}).first_sixteenths, 0);
  EXPECT_EQ(std::pair(of(4096, {2, 2, 4}).steps(), of(4096, {2, 2, 4}).stages()), std::pair(1, 1));
  EXPECT_EQ(choose_schedule(8192, 8192, 8192, 2).first_sixteenths, 0);
}

// Where matrices lie.

/// The grid of all ranks, as square as it may be.
dist::process_grid squarest(int ranks) {
  int rows = int(std::sqrt(double(ranks)));
  while (ranks % rows) --rows;
  return {rows, ranks / rows};
}
double most_of(const dist::schedule& s, const dist::operand_layouts& where) {
  index_t most = 0;
  for (const dist::rank_traffic& t : traffic_of(s, where)) most = std::max(most, t.most());
  return double(most);
}
index_t redistributed(const dist::schedule& s, const dist::operand_layouts& where) {
  index_t sum = 0;
  for (const dist::rank_traffic& t : traffic_of(s, where)) sum += t.redistributed;
  return sum;
}

class random_layouts {
 public:
  explicit random_layouts(unsigned seed) : random_(seed) {}
  index_t pick(index_t count) { return index_t(random_() % std::uint64_t(count)); }
  layout operator()(index_t rows, index_t cols, int ranks) {
    const int grid_rows = 1 + int(pick(ranks)), grid_cols = 1 + int(pick(ranks / grid_rows));
    const auto order =
        pick(2) ? dist::process_grid::order::row_major : dist::process_grid::order::column_major;
    const dist::block_cyclic b{rows + 2,
                               cols + 3,
                               1 + pick(20),
                               1 + pick(20),
                               {grid_rows, grid_cols, order, int(pick(ranks - grid_rows * grid_cols + 1))},
                               int(pick(grid_rows)),
                               int(pick(grid_cols))};
    if (pick(4) > 0) return layout(b).sub(pick(3), pick(4), rows, cols);
    std::vector<int> owners;
    for (int x = 0; x < 6; ++x) owners.push_back(int(pick(ranks)));
    return layout::grid({0, rows / 3, rows}, {0, cols / 4, cols / 2, cols}, owners);
  }

 private:
  std::mt19937_64 random_;
};

// What is counted by rows and columns is what element after element says.
TEST(DistScheduleOfLayouts, CountsElements) {
  random_layouts random(17);
  for (int c = 0; c < 60; ++c) {
    const index_t m = 1 + random.pick(40), n = 1 + random.pick(40), k = 1 + random.pick(40);
    const int ranks = 2 + int(random.pick(9));
    const dist::operand_layouts where{random(m, k, ranks), random(k, n, ranks), random(m, n, ranks)};
    const auto s =
        c % 2 ? choose_schedule(where, ranks, {4, 2, 8}) : choose_schedule(m, n, k, ranks, {4, 2, 8});
    SCOPED_TRACE(s.to_string());
    std::vector<index_t> received(std::size_t(ranks), 0), sent = received;
    const auto move = [&](const layout& from, const layout& to, int bytes) {
      for (index_t i = 0; i < from.rows(); ++i)
        for (index_t j = 0; j < from.cols(); ++j)
          if (from.owner(i, j) != to.owner(i, j))
            received[std::size_t(to.owner(i, j))] += bytes, sent[std::size_t(from.owner(i, j))] += bytes;
    };
    move(where.a, s.layout_a(), 4);
    move(where.b, s.layout_b(), 2);
    move(s.layout_sums(), where.c, 8);
    const auto counted = traffic_of(s, where);
    index_t all_received = 0, all_sent = 0;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& x = counted[std::size_t(rank)];
      EXPECT_EQ(x.redistributed, received[std::size_t(rank)]);
      EXPECT_EQ(x.received, x.redistributed + s.panel_bytes(rank) + s.sum_bytes(rank));
      EXPECT_GE(x.sent, sent[std::size_t(rank)]);
      all_received += x.received, all_sent += x.sent;
    }
    EXPECT_EQ(all_received, all_sent);
  }
}

// No grid that is allowed moves less from these layouts, by more than is worth another grid.
TEST(DistScheduleOfLayouts, NoGridMovesLess) {
  random_layouts random(19);
  int others = 0;
  for (int c = 0; c < 200; ++c) {
    const index_t m = 20 + random.pick(100), n = 20 + random.pick(100), k = 20 + random.pick(100);
    const int ranks = 2 + int(random.pick(11));
    const dist::operand_layouts where{random(m, k, ranks), random(k, n, ranks), random(m, n, ranks)};
    const auto plain = choose_schedule(m, n, k, ranks), s = choose_schedule(where, ranks);
    SCOPED_TRACE(s.to_string());
    const auto work = [&](const dist::schedule& x) {
      const auto box = x.largest_box();
      return double(box.m) * double(box.n) * double(box.k);
    };
    const auto all = [&](const auto& f) {
      for (int pm = 1; pm <= ranks; ++pm)
        for (int pn = 1; pm * pn <= ranks; ++pn)
          for (int pk = 1; pm * pn * pk <= ranks; ++pk)
            f(dist::schedule{m, n, k, ranks, {}, pm, pn, pk, detail::ceil_div(k, pk)});
    };
    double least_work = 1e300, least = most_of(plain, where);
    all([&](const dist::schedule& x) { least_work = std::min(least_work, work(x)); });
    all([&](const dist::schedule& x) {
      if (work(x) * 24 <= least_work * 25) least = std::min(least, most_of(x, where));
    });
    ASSERT_LE(work(s) * 24, least_work * 25);
    const double most = most_of(s, where);
    if (s.to_string() == plain.to_string()) {
      ASSERT_GE(least, 0.95 * most);
    } else {
      ASSERT_LE(most, least);
      ASSERT_LT(most, 0.95 * most_of(plain, where));
      ++others;
    }
  }
  EXPECT_GT(others, 20);
}

// From ScaLAPACK's layout on as many ranks as it pays for, of sub-matrices and from any first process, only panels are sent.
TEST(DistScheduleOfLayouts, BlocksStayWhereTheyAre) {
  const index_t n = 36 * 512;  // as many blocks for each of 2, 3 and 4 parts
  for (const int ranks : {2, 4, 6, 8, 9, 16})
    for (const index_t block : {64, 512})
      for (const bool is_part : {false, true}) {
        dist::process_grid grid = squarest(ranks);
        if (is_part) grid.by = dist::process_grid::order::column_major;
        const index_t whole = is_part ? n + 3 * block : n;
        layout l = dist::block_cyclic{whole, whole, block, block, grid, is_part ? grid.rows - 1 : 0, 0};
        if (is_part) l = l.sub(block / 2, 2 * block + 5, n, n);
        const dist::operand_layouts where{l, l, l};
        const auto plain = choose_schedule(n, n, n, ranks), s = choose_schedule(where, ranks);
        SCOPED_TRACE(s.to_string() + " instead of " + plain.to_string());
        EXPECT_EQ(redistributed(s, where), 0);
        if (!is_part) {
          for (const layout& wanted : {s.layout_a(), s.layout_b(), s.layout_sums()})
            EXPECT_TRUE(wanted.same_places(l));
        }
        EXPECT_GT(redistributed(plain, where), 0);
        EXPECT_LT(most_of(s, where), 0.82 * most_of(plain, where));
        // Each step's panels come from all that share them alike.
        for (int t = 0; t + 1 < s.steps() && !is_part; ++t) {
          std::vector<index_t> of_sharer(std::size_t(s.pn), 0);
          for (const auto& r : s.runs_of_a(0, t)) of_sharer[std::size_t(r.sharer)] += r.end - r.begin;
          EXPECT_EQ(std::count(of_sharer.begin(), of_sharer.end(), of_sharer[0]), s.pn);
        }
        EXPECT_LE(4 * s.first(), n);
        EXPECT_LE(s.memory(), 2 * plain.memory());
        const index_t little = plain.memory();
        EXPECT_LE(choose_schedule(where, ranks, {}, little).memory(), little);
      }
}

// Elements narrower than their sums are multiplied so fast that one step beats two. Where many ranks share a product, sums are
// small beside panels, and steps hide these.
TEST(DistScheduleOfLayouts, HalvesAreMultipliedAtOnceOnFewDevices) {
  const dist::element_bytes halves{2, 2, 4};
  const auto of = [&](index_t n, int ranks) {
    const layout l = dist::block_cyclic{n, n, 512, 512, squarest(ranks)};
    const auto s = choose_schedule({l, l, l}, ranks, halves, dist::unlimited_memory, 12);
    EXPECT_EQ(redistributed(s, {l, l, l}), 0) << s.to_string();
    return s;
  };
  for (const index_t n : {4096, 8192, 16384, 32768, 40960})
    for (const int ranks : {2, 4}) {
      const auto s = of(n, ranks);
      SCOPED_TRACE(s.to_string());
      EXPECT_EQ(s.steps(), 1);
      // Long transfers are cut in two, and blocks of one sender travel as one message.
      EXPECT_EQ(s.first_sixteenths, n < 8192 ? 0 : ranks == 2 ? 4 : 8);
      EXPECT_EQ(s.stages(), n < 8192 ? 1 : 2);
      EXPECT_EQ(s.runs_of_a(0, 0).size(), std::size_t(s.pn));
      EXPECT_EQ(s.runs_of_b(0, 0).size(), std::size_t(s.pm));
      EXPECT_EQ(s.first_rows(0) * 16,
                s.rows_of(0) * (s.stages() == 1 || s.pn == 1 ? 16 : s.first_sixteenths));
    }
  EXPECT_GT(of(16384, 16).steps(), 1);
  const auto s = of(16384, 2);
  const index_t less = s.memory() - 16384 * 8192;
  const auto lean = choose_schedule(16384, 16384, 16384, 2, halves, less, 12);
  EXPECT_LE(lean.memory(), less);
  EXPECT_GT(lean.steps(), 1);
  EXPECT_EQ(lean.first_sixteenths, 0);
  EXPECT_GT(choose_schedule(16384, 16384, 16384, 2, halves).steps(), 8);
}

// A small B goes from its owner to all, as a round of messages that shares it out takes longer; and is waited for, as C is too
// large to be read once more. Hosts count bytes alone.
TEST(DistScheduleOfLayouts, ASmallMatrixGoesToAllFromWhereItIs) {
  const index_t m = 1000000, n = 512;
  const auto blocks = [&](index_t rows) {
    return layout(dist::block_cyclic{rows, n, 512, 512, {4, 1}, rows == m ? 0 : 2, 0});
  };
  const dist::operand_layouts where{blocks(m), blocks(n), blocks(m)};
  for (const dist::element_bytes bytes : {dist::element_bytes{}, {4, 4, 4}, {2, 2, 4}}) {
    const auto s = choose_schedule(where, 4, bytes, dist::unlimited_memory, 12);
    SCOPED_TRACE(s.to_string());
    EXPECT_EQ(redistributed(s, where), 0);
    EXPECT_EQ(std::tuple(s.pm, s.pn, s.pk, s.stages()), std::tuple(4, 1, 1, 1));
    const auto runs = s.runs_of_b(0, 0);
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(s.rank_of(runs[0].sharer, 0, 0), 2);
    const auto of_hosts = choose_schedule(where, 4, bytes);
    EXPECT_LT(most_of(of_hosts, where), most_of(s, where));
  }
  // A large one is shared out, which takes less time than its owner's messages to all.
  const auto large = [](index_t rows) { return layout(dist::block_cyclic{rows, 8192, 8192, 8192, {4, 1}}); };
  const dist::operand_layouts of_large{large(4 * 8192), large(8192), large(4 * 8192)};
  const auto s = choose_schedule(of_large, 4, {}, dist::unlimited_memory, 12);
  EXPECT_GT(redistributed(s, of_large), 0) << s.to_string();
}

// Blocks of one sender are one message, unless a large operand that does not travel would have to be copied for that.
TEST(DistScheduleOfLayouts, PanelsAreSortedWhereThatPays) {
  const auto of = [](index_t m, index_t n, index_t k, dist::process_grid grid) {
    const auto l = [&](index_t rows, index_t cols) {
      return layout(dist::block_cyclic{rows, cols, 64, 64, grid});
    };
    return choose_schedule({l(m, k), l(k, n), l(m, n)}, grid.rows * grid.cols, {}, dist::unlimited_memory,
                           12);
  };
  const auto tall = of(100000, 512, 1024, {4, 1});
  SCOPED_TRACE(tall.to_string());
  EXPECT_EQ(tall.b_blocks.block, 64);
  EXPECT_TRUE(tall.layout_a(true).same_places(tall.layout_a()));
  EXPECT_GT(tall.runs_of_b(0, 0).size(), 4u);
  const auto square = of(1024, 1024, 1024, {2, 2});
  EXPECT_EQ(square.a_blocks.block, 64);
  EXPECT_EQ(square.runs_of_a(0, 0).size(), 2u);
  EXPECT_EQ(square.runs_of_b(0, 0).size(), 2u);
  EXPECT_TRUE(square.layout_a(true).same_places(square.layout_a()));  // own lines stay in their order
}

// Matrices that lie as the schedule wants them choose it.
TEST(DistScheduleOfLayouts, ItsOwnLayoutsChooseIt) {
  random_layouts random(23);
  for (int c = 0; c < 50; ++c) {
    const int ranks = 2 + int(random.pick(15));
    const auto plain =
        choose_schedule(1 + random.pick(3000), 1 + random.pick(3000), 1 + random.pick(3000), ranks);
    const auto s = choose_schedule({plain.layout_a(), plain.layout_b(), plain.layout_sums()}, ranks);
    EXPECT_EQ(s.to_string(), plain.to_string());
  }
}

// Ranks are given the places where their data is: here one block each, numbered against the schedule's order.
TEST(DistScheduleOfLayouts, PlacesFollowTheData) {
  const index_t n = 4096;
  const layout l =
      dist::block_cyclic{n, n, n / 2, n / 2, {2, 2, dist::process_grid::order::column_major}, 1, 0};
  const dist::operand_layouts where{l, l, l};
  const auto s = choose_schedule(where, 4);
  SCOPED_TRACE(s.to_string());
  EXPECT_LT(most_of(s, where), 0.8 * most_of(choose_schedule(n, n, n, 4), where));
  for (int rank = 0; rank < 4; ++rank) {
    int im, in, ik;
    ASSERT_TRUE(s.place(rank, im, in, ik));
    EXPECT_EQ(s.rank_of(im, in, ik), rank);
  }
  dist::schedule other = s;
  other.ranks_of_places = {0, 1, 2, 3};
  do EXPECT_LE(most_of(s, where), most_of(other, where));
  while (std::next_permutation(other.ranks_of_places.begin(), other.ranks_of_places.end()));
}

TEST(DistScheduleOfLayouts, EdgesAndWhatIsNotCounted) {
  for (const index_t m : {0, 1, 5})
    for (const index_t n : {0, 1, 5})
      for (const index_t k : {0, 1, 5}) {
        const auto blocks = [](index_t rows, index_t cols) {
          return layout(dist::block_cyclic{rows, cols, 2, 2, {1, 3}});
        };
        const dist::operand_layouts where{blocks(m, k), blocks(k, n), blocks(m, n)};
        const auto s = choose_schedule(where, 3);
        EXPECT_EQ(std::tuple(s.m, s.n, s.k), std::tuple(m, n, k));
        if (m * n * k == 0) {
          EXPECT_EQ(s.to_string(), choose_schedule(m, n, k, 3).to_string());
        }
        EXPECT_EQ(traffic_of(s, where).size(), 3u);
      }
  const auto expect_plain = [](const layout& l, int ranks) {
    const index_t n = l.rows();
    EXPECT_EQ(choose_schedule({l, l, l}, ranks).to_string(), choose_schedule(n, n, n, ranks).to_string());
  };
  expect_plain(dist::block_cyclic{9000, 9000, 100, 100, {9, 9}}, 81);  // ranks
  expect_plain(dist::block_cyclic{20000, 20000, 1, 1, {2, 2}}, 4);     // blocks
  expect_plain(dist::block_cyclic{2000, 2000, 10, 10, {4, 4}}, 3);     // of more ranks than there are
  expect_plain(layout::on_rank(2000, 2000), 1);
  std::vector<index_t> splits;
  for (index_t i = 0; i <= 2500; i += 100) splits.push_back(i);
  expect_plain(layout::grid(splits, splits, std::vector<int>(625, 1)), 2);  // parts
  const layout l = layout::on_rank(20, 30);
  EXPECT_THROW(choose_schedule({l, l, l}, 2), invalid_argument);
  EXPECT_THROW(traffic_of(choose_schedule(20, 20, 20, 2), {l, l, l}), invalid_argument);
  const layout square = layout::on_rank(20, 20, 5);
  EXPECT_THROW(traffic_of(choose_schedule(20, 20, 20, 2), {square, square, square}), invalid_argument);
  const layout on_one = layout::on_rank(20, 20);
  const auto refused = [&](const auto& change) {
    dist::schedule s = choose_schedule(20, 20, 20, 2);
    EXPECT_EQ(traffic_of(s, {on_one, on_one, on_one}).size(), 2u);
    change(s);
    EXPECT_THROW(traffic_of(s, {on_one, on_one, on_one}), invalid_argument);
  };
  refused([](dist::schedule& s) { s.ranks_of_places = {0, 7}; });
  refused([](dist::schedule& s) { s.ranks_of_places = {0}; });
  refused([](dist::schedule& s) { s.pm = 3; });
  refused([](dist::schedule& s) { s.pk = 0; });
  refused([](dist::schedule& s) { s.step = 0; });
  EXPECT_THROW(choose_schedule({square, square, square}, 6, {}, 1), memory_error);
  const index_t huge = index_t(1) << 30;
  const layout far = dist::block_cyclic{huge, 4, huge / 64, 2, {2, 2}};
  const layout flat = dist::block_cyclic{4, huge, 2, huge / 64, {2, 2}};
  const layout vast = dist::block_cyclic{huge, huge, huge / 64, huge / 64, {2, 2}};
  EXPECT_EQ(choose_schedule({far, flat, vast}, 4).m, huge);
}

// A choice takes tens of microseconds on 2 ranks and a millisecond or so on 32. Here only that it takes no seconds.
TEST(DistScheduleOfLayouts, IsChosenSoon) {
  const auto begin = std::chrono::steady_clock::now();
  for (const int ranks : {2, 16, 64}) {
    const layout l = dist::block_cyclic{32768, 32768, 64, 64, squarest(ranks)};
    choose_schedule({l, l, l}, ranks);
  }
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 2.0);
}

}  // namespace

// What a call costs besides its data: how often ranks agree, and that the same call is not planned again.

#include <keramos/dist/plan.hpp>
#include <keramos/dist/remembered.hpp>

#include "ranks.hpp"

namespace {
int agreements = 0;
}
// In front of MPI's own.
extern "C" int MPI_Iallreduce(const void* mine, void* all, int count, MPI_Datatype type, MPI_Op how,
                              MPI_Comm comm, MPI_Request* request) {
  ++agreements;
  return PMPI_Iallreduce(mine, all, count, type, how, comm, request);
}

namespace {

using namespace keramos;
using namespace keramos::test;

/// A product of numbers that are rounded, of which this rank's parts of C are compared bit by bit.
struct product {
  known_matrix<double> a, b, c;
  dist::gemm_options options;

  product(const dist::operand_layouts& where, std::mt19937& own)
      : a(where.a, 1, world().rank(), own),
        b(where.b, 2, world().rank(), own),
        c(where.c, 3, world().rank(), own) {
    const auto irrational = [](index_t i, index_t j, double& x) { x = std::sin(double(i * 37 + j * 101)); };
    a.each_own(world().rank(), irrational), b.each_own(world().rank(), irrational);
  }
  /// C, and how often ranks agreed.
  std::pair<std::vector<double>, int> call(dist::communicator& comm, dist::gemm_report* report = nullptr) {
    const auto before = c;
    const auto a_here = a.get(), b_here = b.get(), c_here = c.get();
    agreements = 0;
    const auto r = dist::gemm(comm, 1.5, a_here, b_here, 0.5, c_here, options);
    const int agreed = agreements;
    if (report) *report = r;
    c.fetch();
    std::pair<std::vector<double>, int> result{c.storage, agreed};
    c = before;
    return result;
  }
};

dist::layout in_blocks(index_t rows, index_t cols, index_t block, int source = 0) {
  return dist::block_cyclic{rows, cols, block, block, {world().size(), 1}, source};
}
dist::operand_layouts example(int source = 0) {
  return {in_blocks(130, 60, 8, source), in_blocks(60, 70, 8), in_blocks(130, 70, 8)};
}
int made(dist::communicator& comm) { return comm.remembered().products.made(); }

// Once that all pass the same and have memory, once that all have multiplied.
TEST(DistCalls, RanksAgreeTwice) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  product p({random_layout(90, 80, comm.size()), random_layout(80, 70, comm.size()),
             random_layout(90, 70, comm.size())},
            own);
  EXPECT_EQ(p.call(comm).second, 2);
  EXPECT_EQ(p.call(comm).second, 2);
}

TEST(DistCalls, TheSameCallIsPlannedOnce) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  product p(example(), own);
  dist::gemm_report first, second;
  const auto once = p.call(comm, &first).first;
  EXPECT_EQ(made(comm), 1);
  EXPECT_EQ(p.call(comm, &second).first, once);
  product equal(example(), own);  // other layouts of the same blocks, other strides and addresses
  equal.call(comm);
  EXPECT_EQ(made(comm), 1);
  EXPECT_EQ(first.schedule, second.schedule);
  EXPECT_EQ(first.panel_bytes, second.panel_bytes);
  EXPECT_EQ(first.redistributed_bytes, second.redistributed_bytes);
  EXPECT_EQ(first.memory, second.memory);
}

// What is remembered is right for a call, or not used: the same bits as on a communicator that remembers nothing.
TEST(DistCalls, OthersInBetween) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  const int ranks = comm.size();
  std::vector<product> all;
  for (int source = 0; source < std::min(ranks, 2); ++source) all.emplace_back(example(source), own);
  all.emplace_back(example(), own).options.memory = index_t(1) << 22;
  all.emplace_back(example(), own).options.schedule = dist::choose_schedule(130, 70, 60, ranks);
  all.emplace_back(example(), own).options.schedule = dist::schedule{130, 70, 60, ranks, {}, 1, 1, 1, 13};
  auto& turned = all.emplace_back(
      dist::operand_layouts{in_blocks(60, 130, 8), in_blocks(70, 60, 8), in_blocks(130, 70, 8)}, own);
  turned.options.op_a = turned.options.op_b = op::T;
  std::vector<std::vector<double>> expected;
  for (product& p : all) {
    dist::communicator fresh(world().mpi());
    expected.push_back(p.call(fresh).first);
  }
  for (int time = 0; time < 3; ++time)
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_EQ(all[i].call(comm).first, expected[i]) << "problem " << i << ", time " << time;
  EXPECT_EQ(made(comm),
            int(all.size()) - (ranks == 1));  // where the transposes lie as the first one's matrices do
}

// Planning is no rank's business but its own.
TEST(DistCalls, RanksMayRememberDifferentThings) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  product p(example(), own);
  const auto once = p.call(comm).first;
  if (comm.rank() == 0) comm.free_memory();
  EXPECT_EQ(p.call(comm).first, once);
  EXPECT_EQ(made(comm), comm.rank() == 0 ? 2 : 1);
}

TEST(DistCalls, WhatIsRememberedDoesNotHideRanksThatDiffer) {
  if (world().size() == 1) return;
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  product one(example(0), own), other(example(1), own);
  const auto of_one = one.call(comm).first, of_other = other.call(comm).first;
  const bool is_last = comm.rank() == comm.size() - 1;
  const std::string text = message_of<invalid_argument>([&] { (is_last ? other : one).call(comm); });
  EXPECT_NE(text.find("ranks call different things: rank 0 has op(A): 130x60 in"), std::string::npos) << text;
  EXPECT_NE(text.find("but rank " + std::to_string(comm.size() - 1) + " has op(A): 130x60 in"),
            std::string::npos)
      << text;
  EXPECT_TRUE(same_everywhere(text));
  EXPECT_EQ(one.call(comm).first, of_one);
  EXPECT_EQ(other.call(comm).first, of_other);
  EXPECT_EQ(made(comm), 2);
}

TEST(DistCalls, AFewAreRemembered) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  for (index_t n = 1; n <= 20; ++n)
    product({in_blocks(20, 10, 3), in_blocks(10, n, 3), in_blocks(20, n, 3)}, own).call(comm);
  EXPECT_EQ(made(comm), 20);
  EXPECT_EQ(comm.remembered().products.count(), std::size_t(8));
  comm.free_memory();
  EXPECT_EQ(comm.remembered().products.count(), 0u);
}

// Of large plans fewer are kept, but always the latest.
TEST(DistCalls, WhatIsRememberedIsBounded) {
  struct plan {
    std::size_t bytes;
    std::size_t size() const { return bytes; }
  };
  detail::dist_recent<plan> recent;
  const auto get = [&](std::size_t bytes) {
    recent.get([&](const plan& p) { return p.bytes == bytes; },
               [&] { return std::make_shared<plan>(plan{bytes}); });
  };
  const std::size_t most = recent.most_bytes;
  get(2 * most);
  EXPECT_EQ(recent.count(), 1u);
  get(most / 2), get(most / 4), get(most / 8);
  EXPECT_EQ(recent.count(), 3u);
  get(most / 2), get(most / 4);
  EXPECT_EQ(recent.made(), 4);
  get(most);
  EXPECT_EQ(recent.count(), 1u);
}

// Of the memory that devices keep: calls of two sizes, one after the other, allocate once each; what few calls ask for goes.
TEST(DistCalls, MemoryIsKeptForTheNextCalls) {
  detail::dist_pool pool(detail::dist_pool::kind::device, true);
  const auto call = [&](std::size_t bytes) {
    const auto b = pool.take(bytes);
    pool.give(b), pool.trim();
    return b;
  };
  const auto large = call(1 << 20), small = call(1 << 10);
  for (int time = 0; time < 10; ++time) {
    EXPECT_EQ(call(1 << 20).data, large.data);
    EXPECT_EQ(call(1 << 10).data, small.data);
  }
  EXPECT_EQ(pool.kept(), large.bytes + small.bytes);
  for (int time = 0; time < 10; ++time) call(1 << 10);
  EXPECT_EQ(pool.kept(), small.bytes);
  for (const std::size_t bytes : {100000, 220000, 450000}) call(bytes);  // none does for the next
  EXPECT_LE(pool.kept(), 2u * 450000);
  pool.free_all();
  EXPECT_EQ(pool.kept(), 0u);
}

// With little memory matrices are redistributed in turns, which are planned when they come.
TEST(DistCalls, InTurns) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  product p({dist::layout::on_rank(60, 80, comm.size() - 1), dist::layout::on_rank(80, 70),
             dist::layout::on_rank(60, 70)},
            own);
  p.options.schedule = dist::choose_schedule(60, 70, 80, comm.size());
  const auto expected = p.call(comm).first;
  p.options.memory = p.options.schedule->memory();
  dist::gemm_report report;
  for (int time = 0; time < 2; ++time) {
    EXPECT_EQ(p.call(comm, &report).first, expected);
    EXPECT_LE(report.memory, p.options.memory);
  }
  EXPECT_EQ(made(comm), 2);
}

TEST(DistCalls, RedistributionIsPlannedOnce) {
  dist::communicator comm(world().mpi());
  std::mt19937 own(1);
  const dist::layout from = in_blocks(90, 70, 4), to = in_blocks(90, 70, 7);
  known_matrix<double> source(from, 1, comm.rank(), own), target(to, 2, comm.rank(), own);
  for (int time = 0; time < 2; ++time) {
    const auto here = source.get(), there = target.get();
    agreements = 0;
    dist::redistribute(comm, op::N, here, there);
    EXPECT_EQ(agreements, 1);
    target.fetch();
    target.each_own(comm.rank(), [&](index_t i, index_t j, double& x) { ASSERT_EQ(x, source.at(i, j)); });
  }
  EXPECT_EQ(comm.remembered().paths.made(), 1);
}

// Blocks that follow one another in a part are one stretch of it, however many: neither lists nor kernels are made for each.
TEST(DistCalls, BlocksThatFollowOneAnotherAreOne) {
  const dist::layout cyclic = dist::block_cyclic{100000, 8, 8, 8, {4, 1}};
  const detail::dist_route stays(cyclic, cyclic, 1, true);
  ASSERT_EQ(stays.pieces().size(), 1u);
  EXPECT_EQ(stays.pieces()[0].rows->stretches.size(), 1u);
  EXPECT_EQ(stays.pieces()[0].rows->count, 25000);
  const dist::layout stretches = dist::layout::grid({0, 25000, 50000, 75000, 100000}, {0, 8}, {0, 1, 2, 3});
  const detail::dist_route out(cyclic, stretches, 1, true), in(stretches, cyclic, 1, false);
  ASSERT_EQ(out.pieces().size(), 4u);
  ASSERT_EQ(in.pieces().size(), 4u);
  for (const auto& p : out.pieces()) EXPECT_EQ(p.rows->stretches.size(), 1u);
  for (const auto& p : in.pieces()) EXPECT_GT(p.rows->stretches.size(), 700u);
}

// Each byte where it belongs, and no other, by kernels and by copies; in lengths and at addresses of any alignment.
TEST(DistCalls, StretchesAreSpread) {
  std::mt19937 random(1);
  const auto any = [&](int count) { return index_t(random() % unsigned(count)); };
  for (int time = 0; time < 200; ++time) {
    std::vector<detail::dist_stretch> stretches;
    index_t at = any(5), bytes = 0;
    const index_t unit = index_t(1) << any(6);
    for (int group = int(any(4)); group >= 0; --group) {
      const index_t length = (1 + any(5)) * unit, gap = any(4) * unit;
      for (int i = int(any(6)); i >= 0; --i)
        stretches.push_back({at, length}), at += length + gap, bytes += length;
    }
    std::vector<char> from(std::size_t(bytes + 3)), expected(std::size_t(at + 1), 'x');
    for (char& x : from) x = char('a' + any(20));
    const index_t begin = any(3);
    for (index_t i = 0, next = begin; i < index_t(stretches.size());
         next += stretches[std::size_t(i++)].bytes)
      std::copy_n(from.begin() + next, stretches[std::size_t(i)].bytes,
                  expected.begin() + stretches[std::size_t(i)].to);
    const device_memory<char> source(from), target(std::vector<char>(expected.size(), 'x'));
    detail::dist_spread(world().queue(), target.data(), source.data() + begin, stretches,
                        std::size_t(1 + any(4)));
    world().queue().wait_and_throw();
    ASSERT_EQ(target.get(), expected) << "time " << time;
  }
}

}  // namespace

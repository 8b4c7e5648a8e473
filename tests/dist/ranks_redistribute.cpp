// From any layout to any other.
#include "ranks.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
void redistribute_case(index_t rows, index_t cols, op how, index_t memory) {
  auto& comm = world();
  std::mt19937 own(unsigned(comm.rank()) + shared_random()());
  const bool turns = how != op::N;
  known_matrix<T> from(random_layout(turns ? cols : rows, turns ? rows : cols, comm.size()),
                       shared_random()(), comm.rank(), own);
  known_matrix<T> to(random_layout(rows, cols, comm.size()), shared_random()(), comm.rank(), own);
  SCOPED_TRACE(testing::Message() << char(how) << " " << from.layout.to_string() << " to "
                                  << to.layout.to_string());
  auto expected = to;
  index_t from_others = 0;
  expected.each_own(comm.rank(), [&](index_t i, index_t j, T& x) {
    x = turns ? from.at(j, i) : from.at(i, j);
    if constexpr (complex_like<T>)
      if (how == op::C) x = std::conj(x);
    if ((turns ? from.layout.owner(j, i) : from.layout.owner(i, j)) != comm.rank())
      from_others += index_t(sizeof(T));
  });
  EXPECT_EQ(dist::redistribute(comm, how, from.template get<const T>(), to.get(), {memory}), from_others);
  to.fetch();
  EXPECT_TRUE(to.storage == expected.storage);
}

template <class T>
void redistribute_cases(int count) {
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i)
    for (const op how : {op::N, op::T, op::C})
      redistribute_case<T>(pick(50), pick(50), how, pick(2) ? index_t(1) << 40 : 1 + pick(4000));
}

TEST(DistRedistribute, Double) { redistribute_cases<double>(8); }
TEST(DistRedistribute, Bytes) { redistribute_cases<std::int8_t>(4); }
TEST(DistRedistribute, Complex) {
  redistribute_cases<std::complex<double>>(3);
  redistribute_cases<std::complex<float>>(3);
}

// Blocks that stay on their rank, so few and large that each is copied by itself.
TEST(DistRedistribute, LargeBlocksThatStay) {
  const int ranks = world().size(), rank = world().rank();
  const index_t rows = index_t(512) * ranks, cols = 128;
  const auto in_blocks = [&](index_t block) {
    return dist::layout(dist::block_cyclic{rows, cols, block, cols, {ranks, 1}});
  };
  std::mt19937 own(unsigned(rank) + shared_random()());
  known_matrix<double> from(in_blocks(128), 1, rank, own), to(in_blocks(256), 2, rank, own);
  auto expected = to;
  expected.each_own(rank, [&](index_t i, index_t j, double& x) { x = from.at(i, j); });
  dist::redistribute(world(), op::N, from.get<const double>(), to.get());
  to.fetch();
  EXPECT_TRUE(to.storage == expected.storage);
}

// What is only reordered on each rank needs no memory for messages, and so no turns.
TEST(DistRedistribute, NothingIsSentToReorder) {
  const int ranks = world().size(), rank = world().rank();
  const dist::layout blocks = dist::block_cyclic{index_t(12) * ranks, 10, 3, 10, {ranks, 1}};
  auto turned = blocks.parts_of_all();  // the same blocks, the last ones first
  for (auto& at : turned.rows.at) at = 9 - at;
  const dist::layout reordered(turned);
  EXPECT_EQ(detail::dist_path(world(), blocks, reordered, 8, 1).turns().size(), 1u);
  std::mt19937 own(unsigned(rank) + shared_random()());
  known_matrix<double> from(blocks, 1, rank, own), to(reordered, 2, rank, own);
  EXPECT_EQ(dist::redistribute(world(), op::N, from.get<const double>(), to.get(), {1}), 0);
  to.fetch();
  to.each_own(rank, [&](index_t i, index_t j, double& x) { EXPECT_EQ(x, from.at(i, j)); });
}

TEST(DistRedistribute, WhatLiesInPlaceIsNotSent) {
  const dist::layout l = dist::block_cyclic{40, 40, 4, 4, {1, world().size()}};
  std::mt19937 own(1);
  known_matrix<double> from(l, 1, world().rank(), own), to(l, 2, world().rank(), own);
  EXPECT_EQ(dist::redistribute(world(), op::N, from.get(), to.get()), 0);
  to.fetch();
  to.each_own(world().rank(), [&](index_t i, index_t j, double& x) { ASSERT_EQ(x, from.at(i, j)); });
}

}  // namespace

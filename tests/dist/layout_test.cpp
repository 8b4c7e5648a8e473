// Layouts, without ranks.
#include <gtest/gtest.h>

#include <set>

#include <keramos/dist/layout.hpp>
#include <keramos/keramos.hpp>

namespace {

using namespace keramos;
using dist::layout;

/// Each element has a place of its own inside its part, which knows it; parts are no larger than they must be.
void expect_sound(const layout& l) {
  std::set<std::array<index_t, 4>> places;
  std::vector<index_t> sizes(std::size_t(l.ranks()), 0);
  for (index_t i = 0; i < l.rows(); ++i)
    for (index_t j = 0; j < l.cols(); ++j) {
      const auto p = l.locate(i, j);
      ASSERT_TRUE(places.insert({p.rank, p.part, p.row, p.col}).second) << i << ", " << j;
      const auto e = l.part_extents(p.rank, p.part);
      ASSERT_TRUE(p.row < e.rows && p.col < e.cols && p.part < l.parts(p.rank)) << i << ", " << j;
      ASSERT_EQ(l.to_global(p.rank, p.part, p.row, p.col), std::pair(i, j));
      ++sizes[std::size_t(p.rank)];
    }
  EXPECT_EQ(l.sizes(), sizes);
}

TEST(DistLayout, BlockCyclicIsScalapacks) {
  for (const index_t n : {0, 1, 5, 16, 37})
    for (const index_t block : {1, 3, 8, 40})
      for (const int processes : {1, 2, 5})
        for (int source = 0; source < processes; ++source) {
          const dist::block_cyclic b{n, 7, block, 2, {processes, 2}, source, 1};
          const layout l = b;
          index_t sum = 0;
          for (int p = 0; p < processes; ++p) {
            const index_t rows = dist::numroc(n, block, p, source, processes);
            EXPECT_EQ(l.part_extents(p * 2).rows, rows);
            EXPECT_EQ(l.part_extents(p * 2 + 1).cols, 4);  // of 2 + 2 + 2 + 1, from process column 1 on
            sum += rows;
          }
          EXPECT_EQ(sum, n);
          for (index_t i = 0; i < n; ++i) {  // INDXG2P and INDXG2L
            EXPECT_EQ(l.owner(i, 0), int((i / block + source) % processes) * 2 + 1);
            EXPECT_EQ(l.locate(i, 0).row, i / block / processes * block + i % block);
          }
          expect_sound(l);
        }
}

TEST(DistLayout, ColumnMajorGridsAndOffsets) {
  const dist::process_grid g{2, 3, dist::process_grid::order::column_major, 4};
  const layout l = dist::block_cyclic{9, 9, 2, 2, g};
  EXPECT_EQ(l.owner(2, 0), 5);
  EXPECT_EQ(l.owner(0, 2), 6);
  EXPECT_EQ(l.ranks(), 10);
  expect_sound(l);
}

TEST(DistLayout, DescriptorsGoInAndOut) {
  const int desc[9] = {1, 17, 100, 90, 8, 4, 1, 2, 60};
  const auto b = dist::block_cyclic::from_descriptor(desc, {2, 3});
  EXPECT_EQ(b.descriptor(17, 60), (std::array<int, 9>{1, 17, 100, 90, 8, 4, 1, 2, 60}));
  EXPECT_EQ(layout(b).owner(0, 0), 1 * 3 + 2);
  const int banded[9] = {501};
  EXPECT_THROW(dist::block_cyclic::from_descriptor(banded, {}), invalid_argument);
  EXPECT_THROW((dist::block_cyclic{index_t(1) << 31, 1}.descriptor(0, 1)), invalid_argument);
}

TEST(DistLayout, GridsOfAnyOwners) {
  const layout l = layout::grid({0, 3, 3, 10}, {0, 1, 8}, {2, 0, 1, 1, 0, 2});
  expect_sound(l);
  EXPECT_EQ(l.owner(0, 0), 2);
  EXPECT_EQ(l.owner(5, 5), 2);
  EXPECT_EQ(l.locate(5, 5).part, 1);
  EXPECT_EQ(l.part_extents(2, 1).rows, 7);
  expect_sound(layout::on_rank(3, 4, 2));
  expect_sound(layout());
}

TEST(DistLayout, SubMatricesAndTransposes) {
  const layout cyclic = dist::block_cyclic{20, 15, 3, 4, {2, 3}, 1, 2};
  for (const layout& l : {cyclic, layout::grid({0, 11, 20}, {0, 2, 9, 15}, {0, 1, 2, 1, 0, 1})}) {
    const layout s = l.sub(4, 3, 13, 11);
    expect_sound(s);
    const layout t = s.transposed();
    expect_sound(t);
    for (index_t i = 0; i < s.rows(); ++i)
      for (index_t j = 0; j < s.cols(); ++j) {
        const auto whole = l.locate(i + 4, j + 3), part = s.locate(i, j), turned = t.locate(j, i);
        EXPECT_EQ(std::tuple(whole.rank, whole.part, whole.row, whole.col),
                  std::tuple(part.rank, part.part, part.row, part.col));
        EXPECT_EQ(std::tuple(whole.rank, whole.part, whole.row, whole.col),
                  std::tuple(turned.rank, turned.part, turned.col, turned.row));
      }
    EXPECT_EQ(t.transposed().fingerprint(), s.fingerprint());
    EXPECT_NE(l.fingerprint(), s.fingerprint());
  }
}

TEST(DistLayout, SamePlacesHoweverCut) {
  const layout whole = dist::block_cyclic{12, 10, 12, 4, {1, 2}};
  EXPECT_TRUE(whole.same_places(whole));
  const layout cut = dist::block_cyclic{12, 10, 3, 4, {1, 2}};
  EXPECT_TRUE(cut.same_places(whole));
  EXPECT_NE(cut.fingerprint(), whole.fingerprint());
  EXPECT_FALSE(cut.same_places(dist::block_cyclic{12, 10, 3, 5, {1, 2}}));
  EXPECT_FALSE(cut.same_places(dist::block_cyclic{12, 10, 3, 4, {2, 1}}));
  EXPECT_FALSE(cut.same_places(dist::block_cyclic{12, 10, 3, 4, {1, 2}, 0, 1}));
  EXPECT_FALSE(cut.same_places(dist::block_cyclic{12, 10, 3, 4, {1, 2, {}, 1}}));
  EXPECT_FALSE(cut.same_places(dist::block_cyclic{12, 11, 3, 4, {1, 2}}));
  // The rows stand the other way round in the part.
  layout::tables turned = whole.parts_of_all();
  turned.rows = {{0, 6, 12}, {6, 0}, {0, 0}, 1};
  EXPECT_FALSE(layout(turned).same_places(whole));
  turned.rows.at = {0, 6};
  EXPECT_TRUE(layout(turned).same_places(whole));
}

TEST(DistLayout, WhatIsNotSoundIsRefused) {
  EXPECT_THROW((layout(dist::block_cyclic{-1, 1})), invalid_argument);
  EXPECT_THROW((layout(dist::block_cyclic{1, 1, 0, 1})), invalid_argument);
  EXPECT_THROW((layout(dist::block_cyclic{1, 1, 1, 1, {0, 1}})), invalid_argument);
  EXPECT_THROW((layout(dist::block_cyclic{1, 1, 1, 1, {2, 1}, 2, 0})), invalid_argument);
  EXPECT_THROW(layout::grid({1, 2}, {0, 1}, {0}), invalid_argument);
  EXPECT_THROW(layout::grid({0, 2, 1}, {0, 1}, {0, 0}), invalid_argument);
  EXPECT_THROW(layout::grid({0, 2}, {0, 1}, {0, 0}), invalid_argument);
  EXPECT_THROW(layout::grid({0, 2}, {0, 1}, {-1}), invalid_argument);
  EXPECT_THROW(layout::on_rank(2, 2).sub(1, 0, 2, 1), invalid_argument);
  EXPECT_THROW(layout::on_rank(2, 2).locate(2, 0), invalid_argument);
  EXPECT_THROW(layout::on_rank(2, 2).to_global(0, 0, 2, 0), invalid_argument);
}

// What would divide by zero, or count wrong.
TEST(DistLayout, NumrocRefusesWhatIsNoBlockOrProcess) {
  EXPECT_EQ(dist::numroc(0, 1, 0, 0, 1), 0);
  EXPECT_THROW(dist::numroc(10, 0, 0, 0, 1), invalid_argument);
  EXPECT_THROW(dist::numroc(10, 2, 0, 0, 0), invalid_argument);
  EXPECT_THROW(dist::numroc(10, 2, 3, 0, 3), invalid_argument);
  EXPECT_THROW(dist::numroc(10, 2, 0, -1, 3), invalid_argument);
  EXPECT_THROW(dist::numroc(-1, 2, 0, 0, 3), invalid_argument);
}

}  // namespace

// Work-groups on SYCL's backend: phases, local memory and group algorithms, beside plain loops. Groups of one item, of a part
// of a sub-group, of a team, of no multiple of a sub-group, and of more items than a team has threads.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "arguments.hpp"
#include "program.hpp"

namespace keramos::test::device {
namespace {

class SyclGroups : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { program_ = std::make_unique<program>("groups.cpp"); }
  static void TearDownTestSuite() { program_.reset(); }
  static std::unique_ptr<program> program_;
};
std::unique_ptr<program> SyclGroups::program_;

struct affine {
  std::uint32_t a, b;
  void then(std::int64_t i) {
    const affine g{std::uint32_t(2 * i + 3), std::uint32_t(i + 7)};
    *this = {g.a * a, g.a * b + g.b};
  }
};

TEST_P(SyclGroups, AlgorithmsAndLocalMemory) {
  const int items = GetParam(), groups = 3;
  auto& q = program_->queue();
  shared<int> threads(q, 1, 0);
  program_->once("threads_of", items, threads.data());
  shared<group_results> out(q, std::size_t(items * groups), group_results{});
  program_->on_teams("group_of_" + std::to_string(items), groups, threads[0], out.data());
  for (int g = 0; g < groups; ++g) {
    const std::int64_t first = std::int64_t(g) * items, end = first + items;
    std::int64_t sum = 0, least = 1 << 30, where = 0;
    bool any = false, all = true;
    for (auto i = first; i < end; ++i) {
      const auto v = value_of(i);
      sum += v;
      if (v < least) least = v, where = i;
      any = any || v < -290, all = all && v < -290;
    }
    affine composed{1, 0};
    std::int64_t before = 0;
    for (auto i = first; i < end; ++i) {
      SCOPED_TRACE("item " + std::to_string(i - first) + " of group " + std::to_string(g));
      const group_results& r = out[std::size_t(i)];
      composed.then(i);
      ASSERT_EQ(r.sum, sum);
      ASSERT_EQ(r.least, least);
      ASSERT_EQ(r.where, where);
      ASSERT_EQ(r.middle, value_of(first + items / 2));
      ASSERT_EQ(r.any, any);
      ASSERT_EQ(r.all, all);
      ASSERT_EQ(r.composed_a, composed.a);
      ASSERT_EQ(r.composed_b, composed.b);
      ASSERT_EQ(r.before, before);
      before += value_of(i);
      // Of its sub-group; a lane that does not exist gives nothing.
      const auto begin = first + (i - first) / 32 * 32, last = std::min(begin + 32, end);
      std::int64_t here = 0;
      affine composed_here{1, 0};
      for (auto j = begin; j < last; ++j) {
        here += value_of(j);
        if (j <= i) composed_here.then(j);
      }
      const auto from = [&](std::int64_t j) { return begin <= j && j < last ? j : i; };
      ASSERT_EQ(r.sub_group_sum, here);
      ASSERT_EQ(r.sub_group_composed_a, composed_here.a);
      ASSERT_EQ(r.sub_group_composed_b, composed_here.b);
      ASSERT_EQ(r.left, value_of(from(i + 3)));
      ASSERT_EQ(r.right, from(i - 2));
      ASSERT_EQ(r.other, value_of(from(begin + ((i - begin) ^ 5))));
      ASSERT_EQ(r.named, value_of(from(begin + (i - first) * 7 % 32)));
      ASSERT_EQ(r.reversed, value_of(end - 1 - (i - first)));
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Items, SyclGroups, testing::Values(1, 19, 256, 491, 3001));

}  // namespace
}  // namespace keramos::test::device

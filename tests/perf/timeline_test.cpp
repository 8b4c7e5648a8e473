// The share of transfers that products hide.
#include "commands/distributed/timeline.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace {

using namespace keramos::perf;
using keramos::dist::activity;
using keramos::dist::interval;

interval of(activity what, double begin, double end, int step = -1) {
  return {.what = what, .step = step, .begin = begin, .end = end};
}

TEST(Timeline, CountsTransfersBesideProductsOfTheSameRank) {
  const timeline_of_ranks ranks = {
      {of(activity::redistribute_a, 0, 1), of(activity::panels, 1, 2, 0), of(activity::panels, 2, 5, 1),
       of(activity::product, 2, 3, 0), of(activity::product, 3.5, 7, 0), of(activity::product, 7, 9, 1),
       of(activity::exchange_sums, 9, 10), of(activity::write_c, 10, 12)},
      {of(activity::panels, 1, 4, 0), of(activity::product, 4, 8, 0)}};
  const auto seconds = seconds_of_transfers(ranks);
  EXPECT_DOUBLE_EQ(seconds.all, 1 + 3 + 1 + 3);
  EXPECT_DOUBLE_EQ(seconds.hidden, 1 + 1.5);
}

TEST(Timeline, WritesWhatThereIs) {
  interval product = of(activity::product, 0.25, 0.5, 3);
  product.multiply_adds = 64;
  interval panels = of(activity::panels, 0.125, 0.5, 4);
  panels.bytes = 1000;
  const auto document =
      timeline_document({{"tool", "test"}}, {{"m", 4}}, {{panels, product}, {of(activity::write_c, 1, 2)}});
  EXPECT_EQ(document["hidden_share"], 0.25 / 0.375);
  EXPECT_EQ(document["context"]["tool"], "test");
  EXPECT_EQ(document["product"]["m"], 4);
  const auto& first = document["ranks"][0]["intervals"];
  EXPECT_EQ(first[0]["what"], "panels");
  EXPECT_EQ(first[0]["bytes"], 1000);
  EXPECT_EQ(first[1]["step"], 3);
  EXPECT_EQ(first[1]["begin_s"], 0.25);
  EXPECT_EQ(first[1]["end_s"], 0.5);
  EXPECT_EQ(first[1]["multiply_adds"], 64);
  EXPECT_TRUE(document["ranks"][1]["intervals"][0]["step"].is_null());
  EXPECT_TRUE(timeline_document({}, {}, {{product}})["hidden_share"].is_null());
}

}  // namespace

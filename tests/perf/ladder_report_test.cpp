// The ladder's table and file.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "ladder/report.hpp"

namespace keramos::perf {
namespace {

ladder_row row(const char* step, int number, double seconds) {
  ladder_row r;
  r.step = step;
  r.number = number;
  r.width = 16;
  r.tile = "16x16x16";
  r.bytes = 2e6;
  r.why = "because";
  r.result.provider = std::string("ladder-16/") + step;
  r.result.problem.m = r.result.problem.n = r.result.problem.k = 100;
  r.result.status = outcome::verified;
  r.result.seconds = {3, seconds, seconds, seconds / 100};
  if (seconds == 0)
    r.result.status = outcome::unavailable, r.result.seconds = {}, r.result.reason = "no units";
  return r;
}

std::vector<ladder_row> rows() {
  std::vector<ladder_row> all{row("naive", 1, 4e-3), row("tiled", 2, 1e-3), row("absent", 3, 0),
                              row("slower", 0, 2e-3)};
  set_gains(all);
  return all;
}

TEST(LadderReport, GainsAreOverTheLastTimedRow) {
  const auto all = rows();
  EXPECT_EQ(all[0].gain, 0);
  EXPECT_DOUBLE_EQ(all[1].gain, 4);
  EXPECT_EQ(all[2].gain, 0);
  EXPECT_DOUBLE_EQ(all[3].gain, 0.5);
  EXPECT_DOUBLE_EQ(all[0].intensity(), 1);  // 2e6 operations for 2e6 bytes
}

TEST(LadderReport, TheTableSaysWhyAndWhatIsMissing) {
  const auto text = ladder_table(rows());
  EXPECT_NE(text.find(" 1 naive"), std::string::npos) << text;
  EXPECT_NE(text.find("(slower)"), std::string::npos) << text;
  EXPECT_NE(text.find("x4.00"), std::string::npos) << text;
  EXPECT_NE(text.find("2 MB"), std::string::npos) << text;
  EXPECT_NE(text.find("unavailable"), std::string::npos) << text;
  EXPECT_NE(text.find("      no units\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      because\n"), std::string::npos) << text;
  EXPECT_NE(text.find("GFLOP/s"), std::string::npos) << text;
}

TEST(LadderReport, CountedBytesStandBesideOrADash) {
  auto all = rows();
  all[1].counted.dram_read = 3.5e6, all[1].counted.l2 = 0;
  EXPECT_EQ(ladder_table(all).find("DRAM"), std::string::npos);
  const auto text = ladder_table(all, true);
  EXPECT_NE(text.find("from global  DRAM read DRAM write         L2"), std::string::npos) << text;
  EXPECT_NE(text.find("2 MB     3.5 MB          -        0 B       1"), std::string::npos) << text;
  EXPECT_NE(text.find("2 MB          -          -          -       1"), std::string::npos) << text;
  const auto results = nlohmann::ordered_json::parse(ladder_document({}, all))["results"];
  EXPECT_EQ(results[1]["dram_read_bytes"], 3.5e6);
  EXPECT_TRUE(results[1]["dram_write_bytes"].is_null());
  EXPECT_EQ(results[1]["l2_bytes"], 0.0);
  EXPECT_TRUE(results[0]["l2_bytes"].is_null());
}

TEST(LadderReport, TheFileIsOneOfResultsWithMoreColumns) {
  auto all = rows();
  all[1].counted.launches.push_back({49, 256, 40, byte_counts::none});
  const auto parsed = nlohmann::ordered_json::parse(ladder_document({{"seed", 7}}, all));
  EXPECT_EQ(parsed["schema"], "keramos-perf/1");
  ASSERT_EQ(parsed["results"].size(), 4u);
  const auto& tiled = parsed["results"][1];
  EXPECT_EQ(tiled["provider"], "ladder-16/tiled");
  EXPECT_EQ(tiled["verified"], true);
  EXPECT_EQ(tiled["ladder"]["step"], "tiled");
  EXPECT_EQ(tiled["global_bytes"], 2e6);
  EXPECT_EQ(tiled["ladder"]["gain"], 4.0);
  const auto& launch = tiled["ladder"]["launches"][0];
  EXPECT_EQ(launch["teams"], 49);
  EXPECT_EQ(launch["threads_of_a_team"], 256);
  EXPECT_EQ(launch["registers_of_a_thread"], 40);
  EXPECT_TRUE(launch["scratch_bytes"].is_null());
  EXPECT_FALSE(parsed["results"][0]["ladder"].contains("launches"));
  EXPECT_TRUE(parsed["results"][0]["ladder"]["gain"].is_null());
  EXPECT_TRUE(parsed["results"][2]["gflops"].is_null());
  EXPECT_EQ(parsed["results"][3]["ladder"]["number"], 0);
}

}  // namespace
}  // namespace keramos::perf

#include "report/progress.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "measure/core/problem.hpp"
#include "report/output.hpp"

namespace keramos::perf {
namespace {

TEST(TimeLeft, FromWhatTheDonePartsTook) {
  time_left left({1, 3, 4});
  EXPECT_LT(left.seconds(10), 0);
  EXPECT_EQ(left.text(), "");
  left.part_done();
  EXPECT_DOUBLE_EQ(left.seconds(10), 70);
  left.part_done();
  EXPECT_DOUBLE_EQ(left.seconds(10), 10);
  left.part_done();
  EXPECT_DOUBLE_EQ(left.seconds(10), 0);
  left.part_done();  // one too many does no harm
  EXPECT_DOUBLE_EQ(left.seconds(10), 0);
  EXPECT_EQ(time_left::text(12), "about 15 s left");
  EXPECT_EQ(time_left::text(121), "about 3 min left");
  EXPECT_EQ(time_left::text(9000), "about 2.5 h left");
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Output, FileIsValidAndMarkedIncompleteUntilTheEnd) {
  const auto path = (std::filesystem::temp_directory_path() / "keramos_output_test.json").string();
  run_output output("", path);
  output.context["seed"] = 1;
  output.add({{"provider", "a"}, {"m", 3}});
  output.save();
  auto parsed = nlohmann::json::parse(content(path));
  EXPECT_EQ(parsed["context"]["complete"], false);
  EXPECT_EQ(parsed["results"].size(), 1u);
  output.add({{"provider", "b"}, {"rank", 2}, {"m", nullptr}});
  output.finish("why");
  parsed = nlohmann::json::parse(content(path));
  EXPECT_EQ(parsed["context"]["incomplete_because"], "why");
  output.finish();
  parsed = nlohmann::json::parse(content(path));
  EXPECT_EQ(parsed["context"]["complete"], true);
  EXPECT_FALSE(parsed["context"].contains("incomplete_because"));
  EXPECT_EQ(parsed["schema"], "keramos-perf/1");
  std::filesystem::remove(path);

  run_output csv("csv", path);
  for (const auto& row : output.rows()) csv.add(row);
  csv.finish();
  EXPECT_EQ(content(path), "provider,m,rank\na,3,\nb,,2\n");
  std::filesystem::remove(path);
  EXPECT_THROW(check_output_folder("/no/such/folder/x.json"), usage_error);
  EXPECT_NO_THROW(check_output_folder("x.json"));
}

}  // namespace
}  // namespace keramos::perf

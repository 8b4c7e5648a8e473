// Pennycook's metric of efficiencies that can be worked out by hand.
#include "commands/portability/portability.hpp"

#include <gtest/gtest.h>

#include "measure/core/problem.hpp"

namespace keramos::perf {
namespace {

result_row row_of(const std::string& provider, int size, double seconds, double peak_fraction) {
  result_row row;
  row.provider = provider;
  row.keys = {{"type", "f32"}, {"m", std::to_string(size)}};
  row.m = row.n = row.k = size;
  row.repetitions = 3;
  row.median_s = seconds;
  row.peak_fraction = peak_fraction;
  row.verified = true;
  return row;
}

results_file file_of(const std::string& device, std::vector<result_row> rows) {
  results_file file;
  file.path = device;
  file.context["device"] = device;
  file.context["backend"] = "cuda";
  file.rows = std::move(rows);
  return file;
}

TEST(Portability, Pennycook) {
  EXPECT_DOUBLE_EQ(pennycook({1, 0.5}), 2.0 / 3);
  EXPECT_DOUBLE_EQ(pennycook({0.25, 0.25, 0.25}), 0.25);
  EXPECT_DOUBLE_EQ(pennycook({1, 0}), 0);
  EXPECT_DOUBLE_EQ(pennycook({}), 0);
}

TEST(Portability, ApplicationsOverPlatforms) {
  // On X keramos takes twice the best time, on Y it is the best; the vendor is on Y only.
  const std::vector<results_file> files{
      file_of("X",
              {row_of("keramos", 64, 2, 0.3), row_of("other", 64, 1, 0.6), row_of("keramos", 99, 1, 0.1)}),
      file_of("Y", {row_of("keramos", 64, 1, 0.8), row_of("vendor", 64, 4, 0.2)}),
      file_of("Y", {row_of("keramos", 64, 3, 0.27), row_of("other", 64, 4, 0.2)})};
  const auto application = portability(files, efficiency_kind::application);
  EXPECT_EQ(application.platforms.size(), 2u);
  EXPECT_EQ(application.problems, std::vector<std::string>{"f32 64"});
  ASSERT_EQ(application.applications.size(), 3u);
  EXPECT_EQ(application.applications[0].provider, "keramos");
  EXPECT_DOUBLE_EQ(application.applications[0].metric, 2 / (1 / 0.5 + 1 / 1.0));
  EXPECT_DOUBLE_EQ(application.applications[1].metric, 2 / (1 / 1.0 + 1 / 0.25));
  EXPECT_DOUBLE_EQ(application.applications[2].metric, 0);
  EXPECT_DOUBLE_EQ(application.applications[0].metric_of_problem.at("f32 64"), 2.0 / 3);

  const auto architectural = portability(files, efficiency_kind::architectural);
  EXPECT_DOUBLE_EQ(architectural.applications[0].metric, 2 / (1 / 0.3 + 1 / 0.8));

  const auto plot = cascade_plot(application, efficiency_kind::application, 2);
  EXPECT_NE(plot.find("keramos"), std::string::npos);
  EXPECT_EQ(plot.find("vendor"), std::string::npos);
  EXPECT_NE(cascade_plot(application, efficiency_kind::application, 1).find("vendor"), std::string::npos);
}

TEST(Portability, WhatCannotBeComputedSaysWhatToWrite) {
  const auto x = file_of("X", {row_of("keramos", 64, 2, 0)});
  EXPECT_THROW(portability({x}, efficiency_kind::application), usage_error);
  EXPECT_THROW(portability({x, x}, efficiency_kind::application), usage_error);
  EXPECT_THROW(portability({x, file_of("Y", {row_of("keramos", 65, 2, 0)})}, efficiency_kind::application),
               usage_error);
  EXPECT_THROW(portability({x, file_of("Y", {row_of("keramos", 64, 2, 0)})}, efficiency_kind::architectural),
               usage_error);
}

TEST(Portability, DevicesOfOneNameAreToldApart) {
  auto zen4 = file_of("AMD EPYC", {row_of("keramos", 64, 2, 0.3)});
  auto zen5 = file_of("AMD EPYC", {row_of("keramos", 64, 1, 0.6)});
  EXPECT_EQ(platform_names({zen4, zen5}), (std::vector<std::string>(2, "AMD EPYC, cuda")));
  zen4.context["device_identity"] = {{"family", "25"}, {"cpus", "16"}};
  zen5.context["device_identity"] = {{"family", "26"}, {"cpus", "16"}};
  const auto result = portability({zen4, zen5, zen4}, efficiency_kind::architectural);
  EXPECT_EQ(result.platforms,
            (std::vector<std::string>{"AMD EPYC, cuda, family 25", "AMD EPYC, cuda, family 26"}));
}

TEST(Portability, WrongResultsCountAsNotRunning) {
  auto wrong = row_of("keramos", 64, 1, 0.5);
  wrong.verified = false;
  const auto result = portability({file_of("X", {row_of("keramos", 64, 1, 0.5), row_of("other", 64, 1, 0.5)}),
                                   file_of("Y", {wrong, row_of("other", 64, 1, 0.5)})},
                                  efficiency_kind::application);
  EXPECT_DOUBLE_EQ(result.applications[0].metric, 0);
  EXPECT_DOUBLE_EQ(result.applications[1].metric, 1);
}

}  // namespace
}  // namespace keramos::perf

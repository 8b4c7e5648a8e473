// The gate finds what became slower and keeps silent about noise.
#include "commands/compare/compare.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "measure/core/problem.hpp"
#include "measure/core/random.hpp"
#include "measure/core/statistics.hpp"

namespace keramos::perf {
namespace {

// Times of one run: normal noise of `spread` around 1 ms, from sums of twelve uniform numbers.
result_row measured(int problem, double factor, double spread, std::uint64_t seed) {
  const random_stream random(seed, std::uint64_t(problem));
  std::vector<double> seconds;
  for (int r = 0; r < 7; ++r) {
    double normal = 0;
    for (int i = 0; i < 12; ++i) normal += random.value<double>(12 * r + i);
    seconds.push_back(1e-3 * factor * (1 + spread * normal));
  }
  const auto s = summarize(seconds);
  result_row row;
  row.provider = "keramos";
  row.m = row.n = row.k = 100 + problem;
  row.keys = {{"type", "f32"}, {"m", std::to_string(row.m)}, {"n", "x"}, {"k", "x"}};
  row.repetitions = s.count;
  row.median_s = s.median;
  row.min_s = s.min;
  row.iqr_s = s.iqr;
  row.samples = seconds;
  row.verified = true;
  return row;
}

std::vector<result_row> run_of(int problems, double spread, std::uint64_t seed, int slow_one = -1) {
  std::vector<result_row> rows;
  for (int p = 0; p < problems; ++p) rows.push_back(measured(p, p == slow_one ? 1.3 : 1.0, spread, seed));
  return rows;
}

int count(const comparison& c, change verdict) {
  int n = 0;
  for (const auto& x : c.cases) n += x.verdict == verdict;
  return n;
}

TEST(Compare, InjectedRegressionIsFoundAndItAlone) {
  for (const double spread : {0.001, 0.01, 0.02}) {
    const auto result = compare(run_of(50, spread, 1), run_of(50, spread, 2, 17), {"keramos"}, {});
    EXPECT_EQ(count(result, change::much_slower), 1) << spread;
    EXPECT_EQ(result.cases[17].verdict, change::much_slower) << spread;
    EXPECT_EQ(count(result, change::none), 49) << spread;
    EXPECT_EQ(result.by_rounds, 50);
    EXPECT_EQ(result.alone, 50);
    ASSERT_EQ(result.classes.size(), 2u);  // all cases, and those of the one class
    for (const auto& group : result.classes) {
      EXPECT_EQ(group.worst_problem, result.cases[17].problem);
      EXPECT_NEAR(group.mean, std::pow(1.3, 1.0 / 50), 0.01);
      EXPECT_EQ(group.verdict, change::none);
    }
  }
}

TEST(Compare, NoiseIsNoRegression) {
  for (const double spread : {0.01, 0.02, 0.05, 0.1}) {
    for (std::uint64_t seed = 10; seed < 30; seed += 2) {
      const auto result = compare(run_of(100, spread, seed), run_of(100, spread, seed + 1), {"keramos"}, {});
      EXPECT_EQ(count(result, change::slower) + count(result, change::much_slower), 0)
          << spread << ' ' << seed;
      for (const auto& group : result.classes)
        EXPECT_EQ(group.verdict, change::none) << spread << ' ' << seed;
    }
  }
}

// Files of older versions have no samples: medians and spreads are judged.
TEST(Compare, FilesWithoutSamplesAreJudgedByMedians) {
  auto before = run_of(50, 0.02, 1), after = run_of(50, 0.02, 2, 17);
  for (auto& row : after) row.samples.clear();
  const auto result = compare(before, after, {"keramos"}, {});
  EXPECT_EQ(result.by_medians, 50);
  EXPECT_EQ(result.by_rounds, 0);
  EXPECT_EQ(count(result, change::much_slower), 1);
  EXPECT_EQ(result.cases[17].verdict, change::much_slower);
}

// A tenth in each of the cases of one type alone is too little for any of them and enough for their class.
TEST(Compare, ASmallSlowdownOfAClassIsFoundInItsMean) {
  const auto before = run_of(40, 0.05, 1);
  auto after = run_of(40, 0.05, 2);
  for (auto& row : after) {
    if (row.m < 120) continue;
    row.median_s *= 1.08;
    for (auto& s : row.samples) s *= 1.08;
  }
  const auto typed = [](std::vector<result_row> rows) {
    for (auto& row : rows) row.keys[0].second = row.m < 120 ? "f32" : "f64";
    return rows;
  };
  const auto result = compare(typed(before), typed(after), {"keramos"}, {});
  EXPECT_EQ(count(result, change::much_slower) + count(result, change::slower), 0);
  ASSERT_EQ(result.classes.size(), 3u);
  EXPECT_EQ(result.classes[1].group, "keramos f32 square");
  EXPECT_EQ(result.classes[1].verdict, change::none);
  EXPECT_EQ(result.classes[2].group, "keramos f64 square");
  EXPECT_EQ(result.classes[2].verdict, change::much_slower);
}

TEST(Compare, RatioWithinTheSpreadIsSaidToBe) {
  EXPECT_EQ(judge(1.3, 0.02, {}), change::much_slower);
  EXPECT_EQ(judge(1.3, 0.4, {}), change::noise);
  EXPECT_EQ(judge(1.15, 0.02, {}), change::slower);
  EXPECT_EQ(judge(1.05, 0, {}), change::none);
  EXPECT_EQ(judge(0.5, 0.2, {}), change::faster);
  EXPECT_EQ(judge(1.15, 0, {1.02, 1.1}), change::much_slower);
}

TEST(Compare, WrongAndMissingCasesAreTold) {
  const auto before = run_of(4, 0.01, 1);
  auto after = run_of(5, 0.01, 2);
  after[0].verified = false;
  after[3].verified.reset();
  after[3].status = "failed";  // after some of its repetitions
  after.erase(after.begin() + 1);
  const auto result = compare(before, after, {"keramos"}, {});
  EXPECT_EQ(result.cases[0].verdict, change::broken);
  EXPECT_EQ(result.cases[1].verdict, change::gone);
  EXPECT_EQ(result.cases[2].verdict, change::none);
  EXPECT_EQ(result.cases[3].verdict, change::broken);
  EXPECT_EQ(result.added, 1);
}

TEST(Compare, WhatIsWrongIsToldWhateverItWasBefore) {
  auto before = run_of(4, 0.01, 1), after = run_of(5, 0.01, 2);
  before[1].verified = after[1].verified = false;
  before[2].status = "unavailable", before[2].verified.reset(), before[2].median_s = 0;
  after[2].status = "unavailable", after[2].verified.reset(), after[2].median_s = 0;
  after[4].verified = false;  // a new one
  const auto result = compare(before, after, {"keramos"}, {});
  ASSERT_EQ(result.cases.size(), 4u);
  EXPECT_EQ(count(result, change::broken), 2);
  EXPECT_EQ(count(result, change::none), 2);
}

TEST(Compare, OtherScalarsAndListsAreOtherCases) {
  const auto row = [](const char* text) { return row_of(nlohmann::ordered_json::parse(text)); };
  const auto one = row(
      R"({"provider": "keramos", "m": 8, "verified": true, "median_s": 1, "extents": [[8, 8, 8], [1, 2, 3]]})");
  const auto other = row(
      R"({"provider": "keramos", "m": 8, "verified": true, "median_s": 1, "extents": [[8, 8, 8], [2, 2, 3]]})");
  const auto scaled =
      row(R"({"provider": "keramos", "m": 8, "alpha": 0.5, "verified": true, "median_s": 1})");
  EXPECT_EQ(compare({one}, {other}, {"keramos"}, {}).cases[0].verdict, change::gone);
  EXPECT_EQ(compare({one}, {one}, {"keramos"}, {}).cases[0].verdict, change::none);
  EXPECT_EQ(scaled.value("alpha"), "0.5");
}

TEST(Compare, KindsOfShape) {
  const auto kind = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    result_row row;
    row.m = m, row.n = n, row.k = k;
    return kind_of_shape(row);
  };
  EXPECT_EQ(kind(64, 64, 64), "small");
  EXPECT_EQ(kind(1000, 1000, 1000), "square");
  EXPECT_EQ(kind(4096, 8, 4096), "skinny");
  EXPECT_EQ(kind(100, 100, 4096), "deep");
  EXPECT_EQ(kind(4096, 4096, 64), "flat");
  EXPECT_EQ(kind(0, 0, 0), "");
}

std::string document(const std::string& device, const std::string& blas, const std::string& rows) {
  return fmt::format(R"({{"schema": "keramos-perf/1", "context": {{"device": "{}", "backend": "serial",
    "device_is_host": true, "threads": 1, "peak_gflops": {{"f32": 100.0}},
    "providers": {{"blas": {{"version": "{}"}}}}}}, "results": [{}]}})",
                     device, blas, rows);
}
const std::string blas_row =
    R"({"provider": "blas", "backend": "serial", "device": "d", "type": "f32", "op_a": "N",
  "op_b": "T", "layout": "right", "m": 8, "n": 9, "k": 10, "repetitions": 5, "median_s": 1e-3, "min_s": 1e-3,
  "iqr_s": 1e-5, "gflops": 20.0, "max_error": 0.0, "error_bound": 1e-6, "verified": true})";

TEST(Compare, OtherDevicesAndBaselinesAreRefused) {
  const auto one = parse_results(document("A", "1.0", blas_row), "a");
  const auto other_device = parse_results(document("B", "1.0", blas_row), "b");
  const auto other_blas = parse_results(document("A", "2.0", blas_row), "c");
  const std::vector<std::string> providers{"blas", "keramos"};
  EXPECT_TRUE(differences(one, one, providers, false, false).empty());
  ASSERT_EQ(differences(one, other_device, providers, false, false).size(), 1u);
  EXPECT_NE(differences(one, other_device, providers, false, false)[0].find("write --different-devices"),
            std::string::npos);
  EXPECT_TRUE(differences(one, other_device, providers, true, false).empty());
  ASSERT_EQ(differences(one, other_blas, providers, false, false).size(), 1u);
  EXPECT_TRUE(differences(one, other_blas, providers, false, true).empty());
}

TEST(Compare, DevicesOfOneNameAreToldApart) {
  auto zen4 = parse_results(document("AMD EPYC", "1.0", blas_row), "zen4");
  auto zen5 = zen4;
  const auto before_identities = zen4;  // recorded by an older version
  zen4.context["device_identity"] = {{"family", "25"}, {"model", "17"}, {"cpus", "16"}};
  zen5.context["device_identity"] = {{"family", "26"}, {"model", "2"}, {"cpus", "16"}};
  const std::vector<std::string> providers{"blas"};
  EXPECT_TRUE(differences(zen4, zen4, providers, false, false).empty());
  const auto refused = differences(zen5, zen4, providers, false, false);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(refused[0],
            "different devices, both called AMD EPYC, serial, 1 thread: family '26' and '25', model '2' and "
            "'17': write --different-devices to compare all the same");
  EXPECT_TRUE(differences(zen5, zen4, providers, true, false).empty());
  EXPECT_TRUE(differences(before_identities, zen4, providers, false, false).empty());
  EXPECT_TRUE(differences(zen4, before_identities, providers, false, false).empty());
}

TEST(Read, RowsKeysAndPeak) {
  const auto file = parse_results(document("A", "1.0", blas_row), "a");
  ASSERT_EQ(file.rows.size(), 1u);
  const auto& row = file.rows[0];
  EXPECT_EQ(row.problem(), "f32 NT right 8x9x10");
  EXPECT_EQ(row.value("op_b"), "T");
  EXPECT_EQ(row.value("device"), "");
  EXPECT_DOUBLE_EQ(row.peak_fraction, 0.2);  // older files have only the peak
  EXPECT_TRUE(row.good());
  EXPECT_TRUE(file.complete);
  EXPECT_EQ(file.platform(), "A, serial, 1 thread");
  for (const char* text :
       {"", "{}", "[1]", R"({"schema": "keramos-perf/2", "context": {}, "results": []})"}) {
    EXPECT_THROW(parse_results(text, "x"), usage_error) << text;
  }
  auto rows = file.rows;
  keep_where(rows, {"type=f64,f32", "provider=blas"});
  EXPECT_EQ(rows.size(), 1u);
  keep_where(rows, {"op_a=T"});
  EXPECT_TRUE(rows.empty());
  rows = file.rows;
  EXPECT_THROW(keep_where(rows, {"colour=red"}), usage_error);
  EXPECT_THROW(keep_where(rows, {"type"}), usage_error);
}

}  // namespace
}  // namespace keramos::perf

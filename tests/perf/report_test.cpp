// What programs and people read.
#include "report/result.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/page/page.hpp"

namespace keramos::perf {
namespace {

std::vector<gemm_result> some_results() {
  gemm_case g{data_type::f32, transpose::N, transpose::T, matrix_layout::left, 10, 20, 30};
  std::vector<gemm_result> all(3);
  for (auto& r : all) r.problem = g, r.backend = "serial", r.device = "CPU, with \"comma\"";
  all[0].provider = "keramos";
  all[0].status = outcome::verified;
  all[0].seconds = {5, 1e-6, 0.9e-6, 1e-7};
  all[0].samples = {3e-6, 1e-6, 2e-6};
  all[0].check = {true, 1e-8, 1e-6, {}};
  all[1].provider = "blas";
  all[1].status = outcome::mismatch;
  all[1].seconds = {5, 2e-6, 1.9e-6, 1e-7};
  all[1].check = {false, std::nan(""), 1e-6, "element (1, 2)"};
  all[2].provider = "cublas";
  return all;
}

TEST(Json, HasTheSchemasKeysAndNothingElse) {
  const auto parsed = nlohmann::ordered_json::parse(to_json({{"seed", 1}}, some_results()));
  EXPECT_EQ(parsed["schema"], "keramos-perf/1");
  EXPECT_EQ(parsed["context"]["seed"], 1);
  const auto& rows = parsed["results"];
  ASSERT_EQ(rows.size(), 3u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : rows[0].items()) keys.push_back(key);
  EXPECT_EQ(keys, (std::vector<std::string>{
                      "provider",    "backend",       "device",    "type",        "op_a",
                      "op_b",        "layout",        "m",         "n",           "k",
                      "repetitions", "median_s",      "min_s",     "iqr_s",       "samples_s",
                      "gflops",      "peak_fraction", "max_error", "error_bound", "verified"}));
  EXPECT_EQ(rows[0]["samples_s"],
            nlohmann::ordered_json({3e-6, 1e-6, 2e-6}));  // in the order they were taken
  EXPECT_EQ(rows[0]["op_b"], "T");
  EXPECT_EQ(rows[0]["layout"], "left");
  EXPECT_NEAR(rows[0]["gflops"].get<double>(), 12.0, 1e-9);
  EXPECT_EQ(rows[0]["verified"], true);
  EXPECT_EQ(rows[1]["verified"], false);
  EXPECT_TRUE(rows[1]["max_error"].is_null());  // NaN has no JSON
  EXPECT_TRUE(rows[2]["median_s"].is_null());
  EXPECT_TRUE(rows[2]["verified"].is_null());
}

TEST(Json, RowsThatAreNotVerifiedSayWhy) {
  auto results = some_results();
  results[1].check.error = 2;
  results[2].status = outcome::failed;
  results[2].reason = "its process died of signal 6";
  const auto text = to_json({{"seed", 1}}, results);
  const auto rows = nlohmann::ordered_json::parse(text)["results"];
  EXPECT_FALSE(rows[0].contains("status"));
  EXPECT_EQ(rows[1]["status"], "wrong");
  EXPECT_EQ(rows[1]["reason"], "element (1, 2) is off by 2, allowed 1e-06");
  EXPECT_EQ(rows[2]["status"], "failed");
  EXPECT_EQ(rows[2]["reason"], "its process died of signal 6");

  // Read back it is not part of the problem.
  const auto file = parse_results(text, "x.json");
  EXPECT_EQ(file.rows[2].problem(), file.rows[0].problem());
  EXPECT_EQ(file.rows[2].reason, "its process died of signal 6");
}

TEST(Page, AFailureIsNotGreen) {
  auto results = some_results();
  results.erase(results.begin() + 1);
  const auto page = [&] {
    const auto text = to_json({{"device", "CPU"}}, results);
    return report_page(parse_results(text, "x.json"), nlohmann::ordered_json::parse(text));
  };
  EXPECT_NE(page().find("<p class=\"good\">1 result verified, 0 wrong, 0 failed, 1 not measured."),
            std::string::npos);
  results[1].status = outcome::failed;
  results[1].reason = "its process died of signal 6";
  EXPECT_NE(page().find("<p class=\"bad\">1 result verified, 0 wrong, 1 failed, 0 not measured."),
            std::string::npos);
  EXPECT_NE(page().find("FAILED: its process died of signal 6"), std::string::npos);
}

// A list's row has all extents, and m, n and k are the largest; equally spaced batches are as they always were.
TEST(Json, FormsOfBatches) {
  auto results = some_results();
  results[0].problem.batch = 4;
  results[1].problem.batch = 4, results[1].problem.form = batch_form::pointers;
  results[2].problem.make_grouped("experts", {{3, 20, 30}, {10, 20, 30}});
  const auto rows = nlohmann::ordered_json::parse(to_json({{"seed", 1}}, results))["results"];
  EXPECT_FALSE(rows[0].contains("form"));
  EXPECT_FALSE(rows[0].contains("extents"));
  EXPECT_EQ(rows[1]["form"], "pointers");
  EXPECT_FALSE(rows[1].contains("list"));
  EXPECT_EQ(rows[2]["form"], "grouped");
  EXPECT_EQ(rows[2]["list"], "experts");
  EXPECT_EQ(rows[2]["m"], 10);
  EXPECT_EQ(rows[2]["batch"], 2);
  EXPECT_EQ(rows[2]["extents"], nlohmann::ordered_json::parse("[[3,20,30],[10,20,30]]"));
}

TEST(Csv, SameColumnsQuotedWhereNeeded) {
  const auto text = to_csv(some_results());
  EXPECT_EQ(text.find("provider,backend,device,type,op_a,op_b,layout,m,n,k,repetitions,median_s,"), 0u);
  EXPECT_NE(text.find("keramos,serial,\"CPU, with \"\"comma\"\"\",f32,N,T,left,10,20,30,5,"),
            std::string::npos);
  EXPECT_NE(text.find(",false,wrong,"), std::string::npos);
  EXPECT_NE(text.find(",10,20,30,0,,,,,,"), std::string::npos);  // unavailable: empty fields
}

TEST(Csv, ObjectsAreColumnsAndListsAreQuoted) {
  const auto rows = nlohmann::ordered_json::parse(
      R"([{"provider": "a", "ladder": {"step": "naive", "why": "slow, but simple", "launches": [{"teams": 1}]}}])");
  EXPECT_EQ(to_csv(rows),
            "provider,ladder.step,ladder.why,ladder.launches\n"
            "a,naive,\"slow, but simple\",\"[{\"\"teams\"\":1}]\"\n");
}

TEST(Table, RatioAndTroubleAreShown) {
  result_table table({"keramos", "blas", "cublas"});
  const auto results = some_results();
  const auto text = table.row(results[0].problem, results);
  EXPECT_NE(text.find("GFLOP/s"), std::string::npos);
  EXPECT_NE(text.find("WRONG     6.000   5.0%   2.000"), std::string::npos) << text;
  EXPECT_NE(text.find("unavailable"), std::string::npos);
  EXPECT_NE(text.find("blas: WRONG: element (1, 2)"), std::string::npos);
  auto list = results[0].problem;
  list.make_grouped("experts", {{3, 20, 30}, {10, 20, 30}});
  result_table batches({"keramos"}, false, true);
  const auto line = batches.row(list, {});
  EXPECT_NE(line.find("\nNT left     3-10      20      30        2 "), std::string::npos) << line;
  EXPECT_NE(line.find("  experts\n"), std::string::npos) << line;
  auto integers = results[0].problem;
  integers.type = data_type::i32;
  EXPECT_NE(table.row(integers, {}).find(" GOP/s"), std::string::npos);
}

}  // namespace
}  // namespace keramos::perf

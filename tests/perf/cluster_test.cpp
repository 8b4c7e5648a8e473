// What is said of the ranks of a job, and how they share a node. (cluster.sh runs real ones.)
#include <gtest/gtest.h>

#include "cluster/summary.hpp"
#include "measure/core/cpus.hpp"
#include "report/read.hpp"

namespace keramos::perf {
namespace {

nlohmann::ordered_json row(int rank, const char* provider, int m, double seconds) {
  nlohmann::ordered_json r{{"rank", rank}, {"provider", provider}, {"type", "f32"}, {"m", m}, {"n", m},
                           {"k", m}};
  r["median_s"] = nullptr;
  if (seconds > 0) r["median_s"] = seconds;
  return r;
}

TEST(Job, MedianSlowestSpreadAndOutliers) {
  auto rows = nlohmann::ordered_json::array();
  const double times[] = {1.00, 1.01, 1.20, 0.99};
  for (int r = 0; r < 4; ++r) {
    rows.push_back(row(r, "keramos", 64, times[r]));
    rows.push_back(row(r, "blas", 64, 2 * times[r]));
    rows.push_back(row(r, "cublas", 64, 0));
  }
  const auto s = summarize_job(rows, {"n0", "n0", "n1", "n1"}, 1.05);
  ASSERT_EQ(s.cases.size(), 2u);
  EXPECT_EQ(s.cases[0].provider, "keramos");
  EXPECT_EQ(s.cases[0].problem, "f32 64");
  EXPECT_EQ(s.cases[0].ranks, 4);
  EXPECT_DOUBLE_EQ(s.cases[0].median_s, 1.00);
  EXPECT_EQ(s.cases[0].slowest_rank, 2);
  EXPECT_EQ(s.cases[0].fastest_rank, 3);
  EXPECT_NEAR(s.cases[0].spread(), 0.21, 1e-12);
  EXPECT_EQ(s.cases[0].outliers, std::vector<int>{2});
  ASSERT_EQ(s.ranks.size(), 4u);
  EXPECT_NEAR(s.ranks[2].relative_time, 1.2, 1e-12);
  EXPECT_TRUE(s.ranks[2].is_outlier);
  EXPECT_FALSE(s.ranks[1].is_outlier);
  ASSERT_EQ(s.nodes.size(), 2u);
  EXPECT_FALSE(s.nodes[0].is_outlier);
  EXPECT_TRUE(s.nodes[1].is_outlier);  // sqrt(1.2 * 0.99) = 1.09
  const auto text = text_of_members(s, 1.05);
  EXPECT_NE(text.find("OUTLIER: node n1"), std::string::npos);
  EXPECT_NE(text.find("OUTLIER: rank 2"), std::string::npos);
  EXPECT_NE(lines_of_case(s, {"n0", "n0", "n1", "n1"}, 0).find("slowest 1.2 s (rank 2 on n1)"),
            std::string::npos);
  EXPECT_EQ(to_json(s, 1.05)["ranks"][2]["outlier"], true);
}

TEST(Job, TheSlowerOfTwoIsFound) {
  auto rows = nlohmann::ordered_json::array({row(0, "keramos", 8, 1.08), row(1, "keramos", 8, 1.0)});
  const auto s = summarize_job(rows, {"a", "b"}, 1.05);
  EXPECT_TRUE(s.ranks[0].is_outlier);
  EXPECT_FALSE(s.ranks[1].is_outlier);
}

TEST(Job, ASpreadAsLargeIsNoOutlier) {
  auto rows = nlohmann::ordered_json::array();
  for (int r = 0; r < 4; ++r) {
    rows.push_back(row(r, "keramos", 8, r == 3 ? 1.1 : 1.0));
    rows.back()["repetitions"] = 9;
    rows.back()["iqr_s"] = 0.3;  // the median is known to 0.157
  }
  const std::vector<std::string> hosts(4, "n");
  auto s = summarize_job(rows, hosts, 1.05);
  EXPECT_TRUE(s.cases[0].outliers.empty());
  EXPECT_FALSE(s.ranks[3].is_outlier);
  for (auto& r : rows) r["iqr_s"] = 0.03;
  s = summarize_job(rows, hosts, 1.05);
  EXPECT_EQ(s.cases[0].outliers, std::vector<int>{3});
  EXPECT_TRUE(s.ranks[3].is_outlier);
}

TEST(Job, RanksThatShareACpuAreNamed) {
  const auto rank = [](int r, const char* host, const char* cpus) {
    return nlohmann::ordered_json{{"rank", r}, {"host", host}, {"cpus_used", cpus}};
  };
  auto ranks = nlohmann::ordered_json::array({rank(0, "a", "0,1"), rank(1, "a", "2,3"), rank(2, "b", "0,1")});
  EXPECT_TRUE(shared_devices(ranks).empty());
  ranks.push_back(rank(3, "a", "1,2"));
  const auto lines = shared_devices(ranks);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].find("ranks 0, 3 on a share CPU 1 and slow each other down: "), 0u) << lines[0];
  EXPECT_EQ(lines[1].find("ranks 1, 3 on a share CPU 2 "), 0u) << lines[1];

  auto gpus = nlohmann::ordered_json::array();
  for (int r = 0; r < 3; ++r) {
    gpus.push_back(rank(r, "a", "0,1"));
    gpus.back()["gpu_pci_bus_id"] = r == 1 ? "0000:02:00.0" : "0000:01:00.0";
  }
  ASSERT_EQ(shared_devices(gpus).size(), 1u);  // what CPUs they wait on does not matter
  EXPECT_EQ(shared_devices(gpus)[0].find("ranks 0, 2 on a share GPU 0000:01:00.0 "), 0u);
}

TEST(Job, QuietWhereAllAreAlike) {
  auto rows = nlohmann::ordered_json::array();
  for (int r = 0; r < 8; ++r) rows.push_back(row(r, "keramos", 8, 1 + 0.005 * r));
  const auto s = summarize_job(rows, std::vector<std::string>(8, "n"), 1.05);
  EXPECT_TRUE(s.cases[0].outliers.empty());
  EXPECT_EQ(text_of_members(s, 1.05).find("OUTLIER"), std::string::npos);
}

// Two sockets of two cores of two hyperthreads, numbered as Linux does.
std::vector<cpu_place> machine_of_eight() {
  std::vector<cpu_place> all;
  for (int cpu = 0; cpu < 8; ++cpu) all.push_back({cpu, cpu % 4 / 2, cpu % 2});
  return all;
}

TEST(Binding, RanksGetWholeCoresNextToEachOther) {
  const auto all = machine_of_eight();
  EXPECT_EQ(share_of_cpus(all, 0, 2), (std::vector<int>{0, 4, 1, 5}));  // a socket each
  EXPECT_EQ(share_of_cpus(all, 1, 2), (std::vector<int>{2, 6, 3, 7}));
  EXPECT_EQ(share_of_cpus(all, 3, 4), (std::vector<int>{3, 7}));
  EXPECT_EQ(share_of_cpus(all, 1, 3), (std::vector<int>{1, 5}));
  EXPECT_EQ(share_of_cpus(all, 2, 3), (std::vector<int>{2, 6, 3, 7}));
  EXPECT_EQ(share_of_cpus(all, 0, 1).size(), 8u);
  for (int rank = 0; rank < 20; ++rank) EXPECT_EQ(share_of_cpus(all, rank, 20).size(), 1u);
  EXPECT_EQ(share_of_cpus(all, 9, 20), share_of_cpus(all, 1, 20));
}

TEST(Binding, LauncherIsRespected) {
  cpu_set_t one, other;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  CPU_ZERO(&other);
  CPU_SET(1, &other);
  EXPECT_FALSE(are_bound({one, one, one}));
  EXPECT_TRUE(are_bound({one, other}));
}

}  // namespace
}  // namespace keramos::perf

// Bytes counted by hardware: what ncu prints, what is made of it, and what is said where nothing can be counted.
#include "ladder/counters.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "measure/core/cache_misses.hpp"
#include "measure/core/program.hpp"

namespace keramos::perf {
namespace {

// As Nsight Compute prints it with --csv --page raw, shortened: its own lines, those of the run that it counts, the
// heading, the units, and a row for each kernel.
const std::string before =
    "==PROF== Connected to process 4711 (/opt/keramos-perf)\n"
    "==PROF== Profiling \"profiler_mark\" - 0: 0%....50%....100% - 2 passes\n" +
    counted_line("ladder-16/naive f32 64x64x64", byte_counts::none) +
    counted_line("keramos f32 64x64x64", byte_counts::none) +
    counted_line("cublas f32 64x64x64", byte_counts::none) + "==PROF== Disconnected from process 4711\n";
const std::string heading =
    R"("ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",)"
    R"("Device","CC","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_sectors_srcunit_tex.sum")"
    "\n";
std::string units(const std::string& read, const std::string& write, const std::string& l2) {
  return R"("","","","","","","","","","","",")" + read + "\",\"" + write + "\",\"" + l2 + "\"\n";
}
std::string kernel(const std::string& called, const std::string& read, const std::string& write,
                   const std::string& l2) {
  return R"csv("0","4711","keramos-perf","127.0.0.1",")csv" + called +
         R"csv(","1","7","(16, 16, 1)","(4, 4, 1)","0","9.0",")csv" + read + "\",\"" + write + "\",\"" + l2 +
         "\"\n";
}
const std::string mark = kernel("keramos::perf::<unnamed>::profiler_mark()", "640", "0", "12");
const std::string in_bytes = units("byte", "byte", "sector");

TEST(Counters, ACallHasTheKernelsFromItsMarkToTheNext) {
  const auto counted = counted_bytes_from(
      before + heading + in_bytes + kernel("fill", "999", "999", "999") + mark +
          kernel(R"(void run<""x"", 1>(int, int))", "1,234,567", "16,384", "1,000") + mark +
          kernel("pack", "1,000", "500", "10") + kernel("multiply", "2,000", "0", "20") + mark,
      byte_counting::ncu);
  EXPECT_EQ(counted.problem, "");
  EXPECT_NE(counted.by.find("dram__bytes_read.sum"), std::string::npos);
  ASSERT_EQ(counted.of.size(), 3u);
  const auto& naive = counted.of.at("ladder-16/naive f32 64x64x64");
  EXPECT_EQ(naive.dram_read, 1234567);
  EXPECT_EQ(naive.dram_write, 16384);
  EXPECT_EQ(naive.l2, 32000);
  const auto& library = counted.of.at("keramos f32 64x64x64");
  EXPECT_EQ(library.dram_read, 3000);
  EXPECT_EQ(library.dram_write, 500);
  EXPECT_EQ(library.l2, 960);
  EXPECT_TRUE(std::isnan(counted.of.at("cublas f32 64x64x64").dram_read));  // it launched nothing
}

TEST(Counters, UnitsAreTheTablesAndNothingIsGuessed) {
  const auto counted = counted_bytes_from(before + heading + units("Mbyte", "Kbyte", "furlong") + mark +
                                              kernel("a", "1.50", "2", "3") + mark +
                                              kernel("b", "n/a", "4", "5") + kernel("c", "1", "4", "5"),
                                          byte_counting::ncu);
  const auto& naive = counted.of.at("ladder-16/naive f32 64x64x64");
  EXPECT_EQ(naive.dram_read, 1.5e6);
  EXPECT_EQ(naive.dram_write, 2000);
  EXPECT_TRUE(std::isnan(naive.l2));
  const auto& library = counted.of.at("keramos f32 64x64x64");
  EXPECT_TRUE(std::isnan(library.dram_read));  // one of its kernels is not known
  EXPECT_EQ(library.dram_write, 8000);
}

TEST(Counters, ColumnsGoByTheirNames) {
  const auto counted = counted_bytes_from(
      before +
          "\"ID\",\"lts__t_sectors_srcunit_tex.sum\",\"Kernel Name\",\"dram__bytes_read.sum\"\n"
          "\"\",\"sector\",\"\",\"byte\"\n\"0\",\"1\",\"profiler_mark\",\"2\"\n\"1\",\"3\",\"naive\",\"4\"\n",
      byte_counting::ncu);
  const auto& naive = counted.of.at("ladder-16/naive f32 64x64x64");
  EXPECT_EQ(naive.dram_read, 4);
  EXPECT_TRUE(std::isnan(naive.dram_write));
  EXPECT_EQ(naive.l2, 96);
}

TEST(Counters, WhatEachKernelNeedsStandsInItsRow) {
  const auto counted = counted_bytes_from(
      before +
          R"("ID","Kernel Name","dram__bytes_read.sum","launch__grid_size","launch__block_size",)"
          R"("launch__registers_per_thread","launch__shared_mem_per_block_static","launch__shared_mem_per_block_dynamic")"
          "\n\"\",\"\",\"byte\",\"\",\"\",\"register/thread\",\"byte/block\",\"byte/block\"\n"
          "\"0\",\"profiler_mark\",\"2\",\"1\",\"1\",\"16\",\"0\",\"0\"\n"
          "\"1\",\"pack\",\"4\",\"12\",\"256\",\"32\",\"16\",\"n/a\"\n"
          "\"2\",\"multiply\",\"4\",\"1,024\",\"128\",\"254\",\"16\",\"38,400\"\n",
      byte_counting::ncu);
  const auto& launches = counted.of.at("ladder-16/naive f32 64x64x64").launches;
  ASSERT_EQ(launches.size(), 2u);
  EXPECT_EQ(launches[0].teams, 12);
  EXPECT_EQ(launches[0].registers, 32);
  EXPECT_TRUE(std::isnan(launches[0].scratch_bytes));
  EXPECT_EQ(launches[1].teams, 1024);
  EXPECT_EQ(launches[1].threads, 128);
  EXPECT_EQ(launches[1].registers, 254);
  EXPECT_EQ(launches[1].scratch_bytes, 38416);
}

TEST(Counters, SaysWhyNothingWasCounted) {
  const auto problem = [](const std::string& text) {
    return counted_bytes_from(before + text, byte_counting::ncu).problem;
  };
  EXPECT_NE(problem("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU "
                    "Performance Counters on the target device 0.\n==WARNING== No kernels were profiled.\n")
                .find("may not read the GPU's counters"),
            std::string::npos);
  EXPECT_EQ(problem("==ERROR== LibraryNotLoaded\n"), "ncu says: LibraryNotLoaded");
  EXPECT_NE(problem("==WARNING== No kernels were profiled.\n").find("No kernels were profiled"),
            std::string::npos);
  EXPECT_NE(counted_bytes_from("", byte_counting::ncu).problem, "");
}

TEST(Counters, HostsTellTheirOwn) {
  const auto counted = counted_bytes_from(
      "a library's chatter\n" + counted_line("naive", 640) + counted_line("blas", byte_counts::none),
      byte_counting::cache_misses);
  EXPECT_EQ(counted.problem, "");
  EXPECT_EQ(counted.of.at("naive").dram_read, 640);
  EXPECT_TRUE(std::isnan(counted.of.at("naive").l2));
  EXPECT_EQ(counted.of.count("blas"), 0u);
}

// With a program called ncu that keeps its arguments and prints what the real one would.
TEST(Counters, RunsThisProgramUnderNcu) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "keramos_fake_ncu";
  std::filesystem::create_directories(folder);
  const auto file = folder / "ncu";
  std::ofstream(file) << "#!/bin/sh\necho \"$@\" >\"$0.arguments\"\ncat <<'END'\n"
                      << before << heading << in_bytes << mark << kernel("a", "1", "2", "3") << "END\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  const char* const path = std::getenv("PATH");
  const std::string old = path != nullptr ? path : "";
  setenv("PATH", (folder.string() + ':' + old).c_str(), 1);
  const auto counted = count_bytes(byte_counting::ncu, {"keramos-perf", "ladder", "--type", "f32"});
  setenv("PATH", old.c_str(), 1);
  EXPECT_EQ(counted.problem, "");
  EXPECT_EQ(counted.of.at("ladder-16/naive f32 64x64x64").l2, 96);
  std::string arguments;
  std::getline(std::ifstream(file.string() + ".arguments"), arguments);
  EXPECT_TRUE(arguments.starts_with("--csv --page raw")) << arguments;
  EXPECT_NE(arguments.find("--profile-from-start off"), std::string::npos) << arguments;
  EXPECT_TRUE(arguments.ends_with("perf_tests ladder --type f32 --count-once")) << arguments;
}

TEST(Counters, PerfEventsCountOrSayWhyNot) {
  cache_miss_counter misses;
  misses.begin();
  std::vector<char> much(std::size_t(64) << 20, 1);
  int sum = 0;
  for (std::size_t i = 0; i < much.size(); i += 4096) sum += static_cast<volatile char&>(much[i]);
  const double counted = misses.end();
  if (!misses.problem().empty()) {
    EXPECT_TRUE(std::isnan(counted)) << misses.problem() << sum;
  }
  EXPECT_FALSE(counted < 0) << counted;  // NaN where it cannot count, 0 where a virtual machine pretends to
  EXPECT_NE(perf_event_problem(ENOENT).find("virtual machines"), std::string::npos);
  EXPECT_NE(perf_event_problem(EACCES).find("perf_event_paranoid"), std::string::npos);
}

TEST(Program, RunsAndTellsOutputAndStatus) {
  const auto shell = find_program("sh");
  ASSERT_NE(shell, "");
  EXPECT_EQ(find_program("no such program"), "");
  const auto output = run_program({shell, "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(output.text, "out\nerr\n");
  EXPECT_EQ(output.status, 3);
  EXPECT_EQ(run_program({shell, "-c", "kill -9 $$"}).status, 128 + 9);
  EXPECT_THROW(run_program({"/no/such/program"}), std::runtime_error);
}

}  // namespace
}  // namespace keramos::perf

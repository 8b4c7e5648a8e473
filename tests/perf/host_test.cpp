// What the machine says of itself, read from folders that look like Linux'.
#include "measure/core/host.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace keramos::perf {
namespace {

class CacheFolder : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(path_); }
  void TearDown() override { std::filesystem::remove_all(path_); }

  void add(int index, const char* level, const char* type, const char* size, const char* cpus) const {
    const auto folder = path_ / ("index" + std::to_string(index));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "level") << level << '\n';
    std::ofstream(folder / "type") << type << '\n';
    if (*size) std::ofstream(folder / "size") << size << '\n';
    std::ofstream(folder / "shared_cpu_list") << cpus << '\n';
  }
  std::vector<cache_level> read() const { return read_caches(path_.string()); }

 private:
  std::filesystem::path path_ =
      std::filesystem::temp_directory_path() /
      (std::string("keramos_caches_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

// Zen 5 with hyperthreads: 8 cores share 32 MiB, however many such groups the socket has.
TEST_F(CacheFolder, TheL3OfACoresOwnGroup) {
  add(0, "1", "Data", "48K", "0,128");
  add(1, "1", "Instruction", "32K", "0,128");
  add(2, "2", "Unified", "1024K", "0,128");
  add(3, "3", "Unified", "32768K", "0-7,128-135");
  const auto levels = read();
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_EQ(levels[0].name, "L1");
  EXPECT_EQ(levels[0].bytes, 48u << 10);
  EXPECT_EQ(levels[0].cores, 1);
  EXPECT_EQ(levels[1].bytes, 1u << 20);
  EXPECT_EQ(levels[1].cores, 1);
  EXPECT_EQ(levels[2].name, "L3");
  EXPECT_EQ(levels[2].bytes, 32u << 20);
  EXPECT_EQ(levels[2].cores, 8);
}

TEST_F(CacheFolder, OtherOrdersUnitsAndMissingSizes) {
  add(0, "2", "Unified", "2M", "0-7");
  add(1, "1", "Data", "64K", "0,4");
  add(2, "3", "Unified", "", "0-3");  // as on some virtual machines of Arm
  const auto levels = read();
  ASSERT_EQ(levels.size(), 2u);
  EXPECT_EQ(levels[0].name, "L1");
  EXPECT_EQ(levels[1].bytes, 2u << 20);
  EXPECT_EQ(levels[1].cores, 4);
}

TEST_F(CacheFolder, NothingIsTold) {
  EXPECT_TRUE(read().empty());
  EXPECT_TRUE(read_caches("/no/such/folder").empty());
}

// On this machine: what Linux lists, whatever sysconf says.
TEST(Host, LastLevelIsOneCoresOwn) {
  const auto levels = host_caches();
  for (const auto& level : levels) EXPECT_GE(level.bytes, 4096u) << level.name;
  EXPECT_EQ(cache_bytes(), levels.empty() ? 32u << 20 : levels.back().bytes);
}

std::string value_of(const identity& known, const std::string& key) {
  for (const auto& [name, value] : known) {
    if (name == key) return value;
  }
  return "none";
}

TEST(Host, WhatTellsCpusOfOneNameApart) {
  const auto x86 = cpu_identity(
      "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n"
      "stepping\t: 1\nflags\t\t: fpu sse2 sme smep fma avx2 avx512f avx avx512_bf16\n\n"
      "processor\t: 1\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n");
  EXPECT_EQ(value_of(x86, "vendor"), "AuthenticAMD");
  EXPECT_EQ(value_of(x86, "family"), "26");
  EXPECT_EQ(value_of(x86, "model"), "2");
  EXPECT_EQ(value_of(x86, "stepping"), "1");
  EXPECT_EQ(value_of(x86, "isa"), "avx avx2 avx512_bf16 avx512f fma");
  EXPECT_EQ(value_of(x86, "cpus"), "2");
  const auto arm = cpu_identity(
      "processor\t: 0\nFeatures\t: fp asimd sve sve2\nCPU implementer\t: 0x41\nCPU architecture: 8\n"
      "CPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 1\n");
  EXPECT_EQ(value_of(arm, "vendor"), "0x41");
  EXPECT_EQ(value_of(arm, "model"), "0xd4f");
  EXPECT_EQ(value_of(arm, "isa"), "asimd sve sve2");
  EXPECT_TRUE(cpu_identity("").empty());
  EXPECT_FALSE(cpu_identity().empty());
}

}  // namespace
}  // namespace keramos::perf

// What the host backends say of the machine, beside what Linux says.
#include <gtest/gtest.h>

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include <fstream>
#include <sstream>
#include <string>

#include <keramos/backends/host/caches.hpp>
#include <keramos/backends/host/model.hpp>
#include <keramos/backends/host/processor.hpp>
#include <keramos/backends/host/tiles.hpp>

namespace keramos::test {
namespace {

namespace host = backend::host;

/// The value of a line of /proc/cpuinfo.
std::string cpuinfo(const std::string& key) {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.rfind(key, 0) == 0 && line.find(':') != std::string::npos)
      return line.substr(line.find(':') + 1) + " ";
  return "";
}

TEST(HostMachine, SecondLevelCache) {
  const std::size_t bytes = host::second_level_cache_bytes();
  EXPECT_GE(bytes, 64u << 10);
  EXPECT_LE(bytes, 1u << 30);
  std::ifstream level("/sys/devices/system/cpu/cpu0/cache/index2/level"),
      size("/sys/devices/system/cpu/cpu0/cache/index2/size");
  int its_level = 0;
  std::size_t kib = 0;
  char unit = 0;
  if (level >> its_level && its_level == 2 && size >> kib >> unit && unit == 'K') {
    EXPECT_EQ(bytes, kib << 10);
  }
}

TEST(HostMachine, Processor) {
#if !defined(__x86_64__)  // whose /proc/cpuinfo an emulator may show
  GTEST_SKIP() << "not x86";
#endif
  if (cpuinfo("vendor_id").empty()) GTEST_SKIP() << "no /proc/cpuinfo of x86";
  EXPECT_EQ(host::bf16_pairs_are_slow(), cpuinfo("vendor_id").find("GenuineIntel") != std::string::npos);
  if (!host::has_amx()) return;  // which the system may refuse
  for (const char* flag : {" amx_tile ", " amx_bf16 ", " amx_int8 "})
    EXPECT_NE(cpuinfo("flags").find(flag), std::string::npos) << flag;
}

TEST(HostMachine, ScalableVectors) {
  const int bytes = host::sve_bytes();
#if defined(__aarch64__) && defined(__linux__)
  constexpr unsigned long has_sve = 1ul << 22;  // HWCAP_SVE
  EXPECT_EQ(bytes > 0, (getauxval(AT_HWCAP) & has_sve) != 0);
  EXPECT_EQ(bytes % 16, 0);
  EXPECT_LE(bytes, 256);
#else
  EXPECT_EQ(bytes, 0);
#endif
}

TEST(HostMachine, ModelIsConsistent) {
  namespace model = host::model;
  // The longer a number, the fewer products a thread does alone.
  EXPECT_EQ(model::alone_volume<float>, 2 * model::alone_volume<double>);
  EXPECT_LT(model::alone_volume<double>, model::small_volume);
  EXPECT_GT(model::most_sum_bytes(1), model::most_sum_bytes(2));
  EXPECT_EQ(model::most_sum_bytes(2), model::most_sum_bytes(128));
  EXPECT_GT(model::most_packed_bytes, model::most_sum_bytes(1));
  EXPECT_LT(model::few_rows, model::few_rows_of_strided_b);
}

TEST(HostMachine, TilesForUnlistedVectors) {
  const host::tile_row row = host::tile_for(8, 8, 4);
  EXPECT_EQ(row.nr(), 2);
  EXPECT_LE(row.mr * row.nr_vectors + row.nr_vectors + 1, row.registers);
  EXPECT_EQ(row.mc % row.mr, 0);
  EXPECT_EQ(row.nc % row.nr(), 0);
}

}  // namespace
}  // namespace keramos::test

// SYCL 2020, 4.6.1 "Device selection" and 4.6.4 "Device class".
#include <gtest/gtest.h>

#include <string>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

constexpr bool host_backend = backend::traits<default_execution_space>::is_host;

TEST(Sycl_4_6_4_Devices, TheDefaultBackendsComeFirstAndTellTheirLimits) {
  const auto all = get_devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().backend, backend::traits<default_execution_space>::name);
  bool has_host = false;
  for (const device_info& d : all) {
    EXPECT_FALSE(d.name.empty());
    EXPECT_GE(d.units, 1);
    EXPECT_GE(d.max_team_size, 1);
    EXPECT_GE(d.local_memory_bytes, 16u * 1024);
    EXPECT_GT(d.memory_bytes, std::size_t(1) << 20);
    has_host |= d.is_host;
  }
  EXPECT_TRUE(has_host);
}
TEST(Sycl_4_6_4_Devices, AQueuesDeviceIsAmongThem) {
  const device_info mine = queue().device();
  bool found = false;
  for (const device_info& d : get_devices())
    found |= d.backend == mine.backend && d.id == mine.id && d.name == mine.name;
  EXPECT_TRUE(found);
}
TEST(Sycl_4_6_1_Selection, TheHighestScoreWinsAndTheFirstOfEquals) {
  EXPECT_EQ(select_device(default_selector).backend, backend::traits<default_execution_space>::name);
  EXPECT_TRUE(select_device(cpu_selector).is_host);
  const auto last = get_devices().back();
  EXPECT_EQ(select_device([&](const device_info& d) { return d.backend == last.backend ? 7 : 3; }).backend,
            last.backend);
  if (!host_backend) {
    EXPECT_FALSE(select_device(gpu_selector).is_host);
  }
}
TEST(Sycl_4_6_1_Selection, NoDeviceIsAnErrorThatListsThem) {
  try {
    (void)select_device([](const device_info&) { return -1; });
    FAIL() << "no exception";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find(get_devices().front().name), std::string::npos) << e.what();
  }
}
TEST(Sycl_4_6_1_Selection, ARuntimeThatDidNotStartKokkosDoesNotEndIt) {
  { runtime inner; }
  EXPECT_TRUE(Kokkos::is_initialized());
}
TEST(Sycl_4_6_1_Selection, ARuntimeRefusesAnotherBackendsDeviceAndASecondStart) {
  device_info d = get_devices().front();
  EXPECT_THROW(runtime second(d), error);  // Kokkos is up
  d.backend = "abacus";
  try {
    runtime other(d);
    FAIL() << "no exception";
  } catch (const invalid_argument& e) {
    EXPECT_NE(std::string(e.what()).find("KERAMOS_BACKEND=abacus"), std::string::npos) << e.what();
  }
}

// In a child that has never been initialised otherwise.
TEST(Sycl_4_6_1_SelectionDeathTest, ARuntimeStartsKokkosOnTheDevice) {
  if (!host_backend) GTEST_SKIP() << "Kokkos cannot be started a second time on a device";
  if (KOKKOS_VERSION >= 40000) GTEST_SKIP() << "this Kokkos cannot be started a second time";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Kokkos::finalize();
        const auto before = get_devices();
        int code = before.empty() ? 1 : 2;
        {
          runtime guard(select_device(cpu_selector));
          code = Kokkos::is_initialized() && queue().device().name == before.front().name ? 7 : 3;
        }
        std::_Exit(Kokkos::is_initialized() ? 4 : code);
      },
      testing::ExitedWithCode(7), "");
}

}  // namespace

// Status 77 if there is no device to run on.
#include <cstdio>

#include <gtest/gtest.h>

#include <sycl/sycl.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const auto devices = ::sycl::device::get_devices();
  if (devices.empty()) {
    std::puts("there is no device of SYCL here");
    return 77;
  }
  std::printf("on %s\n", ::sycl::queue().get_device().get_info<::sycl::info::device::name>().c_str());
  return RUN_ALL_TESTS();
}

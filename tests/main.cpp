// Runs a folder's tests with Kokkos initialised around them.
#include <gtest/gtest.h>

#include "support.hpp"

// Some tests ask for more memory than there is, which sanitizers end a program for, unless they are told so.
extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();
const char* __asan_default_options() { return "allocator_may_return_null=1"; }
const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  keramos::runtime guard(argc, argv);
  if (keramos::test::support_listener::file())
    testing::UnitTest::GetInstance()->listeners().Append(new keramos::test::support_listener);
  return RUN_ALL_TESTS();
}

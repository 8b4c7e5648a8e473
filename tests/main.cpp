// Runs a folder's tests with Kokkos initialised around them.
#include <gtest/gtest.h>

#include <keramos/core/runtime.hpp>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  keramos::runtime guard(argc, argv);
  return RUN_ALL_TESTS();
}

// Runs a folder's tests with Kokkos initialised around them.
#include <gtest/gtest.h>

#include "support.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  keramos::runtime guard(argc, argv);
  if (keramos::test::support_listener::file())
    testing::UnitTest::GetInstance()->listeners().Append(new keramos::test::support_listener);
  return RUN_ALL_TESTS();
}

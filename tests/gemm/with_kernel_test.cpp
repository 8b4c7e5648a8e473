#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

#include <keramos/base/error.hpp>
#include <keramos/gemm/kernel/with_kernel.hpp>

namespace {

using namespace keramos;

struct odd_sums {
  static constexpr int rows = 4, accesses = 3;
  static constexpr bool exists(int row, int access) { return (row + access) % 2 == 1; }
};
struct no_rows {
  static constexpr int rows = 0, accesses = 3;
  static constexpr bool exists(int, int) { return true; }
};

// `launch` would not compile for numbers that exist() refuses.
template <class Row, class Access>
std::pair<int, int> numbers_of(Row row, Access access) {
  static_assert(odd_sums::exists(row(), access()));
  return {row(), access()};
}

TEST(WithKernel, LaunchesTheOneThatIsAskedForAndNoOther) {
  std::set<std::pair<int, int>> existing;
  for (int row = -1; row <= odd_sums::rows; ++row)
    for (int access = -1; access <= odd_sums::accesses; ++access) {
      int launches = 0;
      std::pair<int, int> launched;
      const auto launch = [&](auto known_row, auto known_access) {
        ++launches, launched = numbers_of(known_row, known_access);
      };
      const bool exists = row >= 0 && row < odd_sums::rows && access >= 0 && access < odd_sums::accesses &&
                          odd_sums::exists(row, access);
      if (!exists) {
        EXPECT_THROW(detail::simt::with_kernel<odd_sums>(row, access, launch), launch_error);
        EXPECT_EQ(launches, 0);
        continue;
      }
      detail::simt::with_kernel<odd_sums>(row, access, launch);
      EXPECT_EQ(launches, 1);
      EXPECT_EQ(launched, std::pair(row, access));
      existing.insert(launched);
    }
  EXPECT_EQ(existing.size(), 6u);
  EXPECT_EQ(detail::simt::kernels_of<odd_sums>.size(), 6u);
}

TEST(WithKernel, SaysWhichRowOfWhichTableHasNone) {
  try {
    detail::simt::with_kernel<no_rows>(
        2, 1, [](auto, auto) {}, "table of nothing");
    FAIL() << "there are no kernels";
  } catch (const launch_error& e) {
    EXPECT_NE(std::string(e.what()).find("row 2 of the table of nothing"), std::string::npos) << e.what();
  }
}

}  // namespace

// How k-tiles lie in local memory, and how many bytes of an operand can be copied at once.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/gemm/collective/panel.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/keramos.hpp>

namespace keramos::test {
namespace {

using tiling::direction;

/// Each element has a place of its own, runs of 16 bytes along the rows stay together, and all repeats after a period.
template <class T, int MN, int K, direction Rows>
void check_panel() {
  using panel = detail::simt::panel<T, MN, K, Rows>;
  constexpr bool along_k = Rows == direction::k;
  constexpr int rows = along_k ? MN : K, length = along_k ? K : MN, run = 16 / int(sizeof(T));
  const auto place = [](int row, int i) { return along_k ? panel::offset(row, i) : panel::offset(i, row); };
  std::vector<int> taken(panel::size);
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < length; ++i) {
      const int at = place(row, i);
      ASSERT_TRUE(at >= 0 && at < panel::size) << row << ", " << i;
      ASSERT_EQ(taken[at]++, 0) << row << ", " << i;
      ASSERT_EQ(at, place(row, i / run * run) + i % run) << row << ", " << i;
      if (row < panel::period) continue;
      ASSERT_EQ(at - place(row - panel::period, i), place(panel::period, 0) - place(0, 0))
          << row << ", " << i;
    }
}
template <class T, int MN, int K>
void check_panels() {
  check_panel<T, MN, K, direction::k>();
  check_panel<T, MN, K, direction::mn>();
}

TEST(Panel, ElementsHavePlacesOfTheirOwn) {
  check_panels<integer8, 64, 64>();
  check_panels<integer8, 128, 64>();
  check_panels<float16, 64, 32>();
  check_panels<float16, 128, 32>();
  check_panels<float16, 16, 32>();
  check_panels<float, 64, 8>();
  check_panels<float, 64, 16>();
  check_panels<double, 64, 8>();
  check_panels<double, 64, 16>();
  check_panels<complex<double>, 32, 8>();
  check_panels<complex<double>, 64, 16>();
}

TEST(Panel, BytesThatCanBeCopiedAtOnce) {
  alignas(16) static const float16 memory[64] = {};
  const auto alignment = [](int first, index_t unit, index_t pitch) {
    return detail::simt::row_alignment(memory + first, unit, pitch);
  };
  EXPECT_EQ(alignment(0, 1, 64), 16);
  EXPECT_EQ(alignment(0, 1, 100), 8);
  EXPECT_EQ(alignment(4, 1, 64), 8);
  EXPECT_EQ(alignment(0, 1, 50), 4);
  EXPECT_EQ(alignment(2, 1, 100), 4);
  EXPECT_EQ(alignment(1, 1, 64), 0);
  EXPECT_EQ(alignment(0, 1, 63), 0);
  EXPECT_EQ(alignment(0, 2, 64), 0);
}

}  // namespace
}  // namespace keramos::test

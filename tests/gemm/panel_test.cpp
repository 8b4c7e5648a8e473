// How k-tiles lie in local memory, and how many bytes of an operand can be copied at once.
#include <algorithm>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <keramos/backends/hip/fragments.hpp>
#include <keramos/gemm/collective/panel.hpp>
#include <keramos/gemm/collective/simt_stager.hpp>
#include <keramos/gemm/collective/wave_panel.hpp>
#include <keramos/keramos.hpp>

namespace keramos::test {
namespace {

using tiling::direction;

/// Each element has a place of its own, runs of 16 bytes along the rows stay together, and all repeats after a period.
template <template <class, int, int, direction> class Panel, class T, int MN, int K, direction Rows>
void check_panel() {
  using panel = Panel<T, MN, K, Rows>;
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
template <class T, int MN, int K, template <class, int, int, direction> class Panel = detail::simt::panel>
void check_panels() {
  check_panel<Panel, T, MN, K, direction::k>();
  check_panel<Panel, T, MN, K, direction::mn>();
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
TEST(Panel, ElementsOfWavesHavePlacesOfTheirOwn) {
  using detail::simt::wave_panel;
  check_panels<integer8, 64, 64, wave_panel>();
  check_panels<integer8, 128, 64, wave_panel>();
  check_panels<float16, 64, 32, wave_panel>();
  check_panels<float16, 128, 32, wave_panel>();
  check_panels<float, 64, 16, wave_panel>();
  check_panels<float, 128, 16, wave_panel>();
  check_panels<double, 64, 8, wave_panel>();
  check_panels<double, 128, 8, wave_panel>();
}

/// How many words of one bank lanes want at once, at most: `place(lane)` is the first byte of a lane's. Banks have four bytes.
template <class Place>
int conflicts(const std::vector<std::vector<int>>& groups, int bytes, const Place& place, int banks = 32) {
  int most = 0;
  for (const auto& lanes : groups) {
    std::vector<std::set<int>> of_bank(banks);
    for (const int lane : lanes)
      for (int word = place(lane) / 4; word < (place(lane) + bytes + 3) / 4; ++word)
        of_bank[word % banks].insert(word);
    for (const auto& words : of_bank) most = std::max(most, int(words.size()));
  }
  return most;
}

/// Lanes that CDNA serves together (Composable Kernel, "LDS bank conflicts"; of shorter reads so many that have 128 bytes).
std::vector<std::vector<int>> served_together(int bytes, bool is_read) {
  std::vector<std::vector<int>> groups;
  if (is_read && bytes == 16) {
    for (const int half : {0, 32})
      for (const auto& [x, y] : {std::pair{0, 20}, {4, 16}, {8, 28}, {12, 24}}) {
        groups.emplace_back();
        for (const int first : {x, y})
          for (int i = 0; i < 4; ++i) groups.back().push_back(half + first + i);
      }
    return groups;
  }
  const int count = std::min(128 / bytes, 32);
  for (int lane = 0; lane < 64; ++lane) {
    if (lane % count == 0) groups.emplace_back();
    groups.back().push_back(lane);
  }
  return groups;
}

/// Lanes whose reads gfx950 serves together, from 64 banks (HipKittens, analysis/paper_experiments/phases).
constexpr int banks_of_gfx950 = 64;
std::vector<std::vector<int>> served_together_by_gfx950(int bytes) {
  std::vector<std::vector<int>> groups;
  const int count = bytes == 16 ? 16 : 256 / bytes;
  for (int first = 0; first < 64; first += count) groups.emplace_back();
  for (int lane = 0; lane < 64; ++lane) {
    const int four = lane % 32 / 4;  // of lanes: 0, 3, 5 and 6 are served together
    const bool first_half = four == 0 || four == 3 || four == 5 || four == 6;
    groups[bytes == 16 ? lane / 32 * 2 + !first_half : lane / count].push_back(lane);
  }
  return groups;
}

/// What one instruction of a wavefront of 64 lanes reads for fragments of 16 rows, and writes of a copy by all lanes. `group`
/// neighbours along m or n go to as many fragments. `row_of(i)` is the row that lanes i, i + 16 ... read of rows along k.
template <class T, int MN, int K, direction Rows, class RowOf>
std::pair<int, int> conflicts_of_panel(int group, const RowOf& row_of) {
  using panel = detail::simt::wave_panel<T, MN, K, Rows>;
  constexpr bool along_k = Rows == direction::k;
  constexpr int size = int(sizeof(T)), run = 16 / size, fast = (along_k ? K : MN) / run;
  const int bytes = along_k ? 16 : group * size;
  int reads = 0;
  for (int e = 0; e < (along_k ? 1 : run); ++e)
    reads = std::max(reads, conflicts(served_together(bytes, true), bytes, [&](int lane) {
                       const int i = lane % 16, k = lane / 16 * run + e;
                       return size * panel::offset(along_k ? row_of(i) : i * group, k);
                     }));
  const int writes = conflicts(served_together(16, false), 16, [&](int lane) {
    const int along = lane % fast * run, row = lane / fast;
    return size * (along_k ? panel::offset(row, along) : panel::offset(along, row));
  });
  return {reads, writes};
}

template <class T, int MN, int K>
void expect_no_conflicts_along_k() {
  // Those of B are in the order of sums (wave_mma.hpp).
  const auto of_b = [](int i) {
    constexpr auto fragment = backend::hip::fragment_of<T>(backend::hip::matrix_units::cdna3);
    constexpr int vector = sizeof(T) == 8 ? 2 : 4;
    const int sum = fragment.sum_of(i), q = fragment.q_of(i);
    return sum / vector * vector * fragment.parts() + q * vector + sum % vector;
  };
  const std::pair none{1, 1};
  EXPECT_EQ((conflicts_of_panel<T, MN, K, direction::k>(1, [](int i) { return i; })), none);
  EXPECT_EQ((conflicts_of_panel<T, MN, K, direction::k>(1, of_b)), none);
}
template <class T, int MN, int K>
std::pair<int, int> conflicts_along_mn() {
  return conflicts_of_panel<T, MN, K, direction::mn>(sizeof(T) == 8 ? 2 : 4, [](int i) { return i; });
}

TEST(Panel, WavesReadAllBanksAtOnce) {
  expect_no_conflicts_along_k<integer8, 64, 64>();
  expect_no_conflicts_along_k<integer8, 128, 64>();
  expect_no_conflicts_along_k<float16, 64, 32>();
  expect_no_conflicts_along_k<float16, 128, 32>();
  expect_no_conflicts_along_k<float, 64, 16>();
  expect_no_conflicts_along_k<float, 128, 16>();
  expect_no_conflicts_along_k<double, 64, 8>();
  expect_no_conflicts_along_k<double, 128, 8>();
  EXPECT_EQ((conflicts_along_mn<float16, 128, 32>()), std::pair(1, 1));
  EXPECT_EQ((conflicts_along_mn<float, 128, 16>()), std::pair(1, 1));
  EXPECT_EQ((conflicts_along_mn<double, 128, 8>()), std::pair(1, 1));
  // Of bytes two lanes meet in a bank.
  EXPECT_EQ((conflicts_along_mn<integer8, 128, 64>()), std::pair(2, 1));
}

/// What gfx950 reads at once of fragments, in pieces of 16 bytes along k, which are neighbours for lanes that share a row, or
/// `group` neighbours along m or n.
template <class T, int MN, int K, direction Rows>
int conflicts_of_gfx950(int group = 4) {
  using panel = detail::simt::wave_panel<T, MN, K, Rows>;
  constexpr bool along_k = Rows == direction::k;
  constexpr int size = int(sizeof(T)), piece = 16 / size;
  const int bytes = along_k ? 16 : group * size;
  int most = 0;
  for (int first = 0; first < K; first += 4 * piece)
    for (int e = 0; e < (along_k ? 1 : piece); ++e)
      most = std::max(most, conflicts(
                                served_together_by_gfx950(bytes), bytes,
                                [&](int lane) {
                                  const int k = first + lane / 16 * piece + e;
                                  return size * panel::offset(lane % 16 * (along_k ? 1 : group), k);
                                },
                                banks_of_gfx950));
  return most;
}
TEST(Panel, WavesOfGfx950ReadAllBanksAtOnce) {
  EXPECT_EQ((conflicts_of_gfx950<float16, 256, 64, direction::k>()), 1);
  EXPECT_EQ((conflicts_of_gfx950<float8, 256, 128, direction::k>()), 1);
  EXPECT_EQ((conflicts_of_gfx950<float8, 64, 128, direction::k>()), 1);
  EXPECT_EQ((conflicts_of_gfx950<float, 128, 16, direction::k>()), 1);
  EXPECT_EQ((conflicts_of_gfx950<double, 128, 8, direction::k>()), 1);
  // Along m or n lanes of several rows meet.
  EXPECT_EQ((conflicts_of_gfx950<float16, 256, 64, direction::mn>()), 2);
  EXPECT_EQ((conflicts_of_gfx950<float8, 256, 128, direction::mn>()), 4);
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

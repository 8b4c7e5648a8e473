// Whether strided arrays share memory, against a list of all their elements.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>

#include <keramos/view/overlap.hpp>

namespace {

using namespace keramos;
using detail::share_memory;
using detail::shares_elements;
using detail::strided_array;

char* const base = reinterpret_cast<char*>(std::uintptr_t(1) << 40);

/// Where the elements begin, in bytes from base; `twice`: whether one is there twice.
std::set<std::intptr_t> elements(const strided_array& x, bool& twice) {
  std::set<std::intptr_t> all;
  twice = false;
  for (index_t i = 0; i < x.extent[0]; ++i)
    for (index_t j = 0; j < x.extent[1]; ++j)
      for (index_t k = 0; k < x.extent[2]; ++k) {
        const index_t at = i * x.stride[0] + j * x.stride[1] + k * x.stride[2];
        twice |= !all.insert(static_cast<const char*>(x.data) - base + at * index_t(x.element_bytes)).second;
      }
  return all;
}

bool share(const strided_array& x, const strided_array& y) {
  bool twice;
  const auto in_x = elements(x, twice), in_y = elements(y, twice);
  for (const auto at : in_x) {
    const auto next = in_y.upper_bound(at - std::intptr_t(y.element_bytes));
    if (next != in_y.end() && *next < at + std::intptr_t(x.element_bytes)) return true;
  }
  return false;
}

strided_array random_array(std::mt19937_64& random, int spread, bool aligned) {
  const auto up_to = [&](index_t n) { return index_t(random() % std::uint64_t(n + 1)); };
  strided_array x{nullptr, std::size_t(1) << up_to(3)};
  for (int d = 0; d < 3; ++d) {
    x.extent[d] = up_to(9) == 0 ? 0 : 1 + up_to(5);
    x.stride[d] = up_to(spread) * (up_to(1) == 0 ? 1 : -1);
  }
  x.data = base + (aligned ? 8 * up_to(2 * spread) : up_to(16 * spread));
  return x;
}

TEST(Overlap, AgreesWithAListOfElements) {
  const std::uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  int shared = 0, apart = 0, doubled = 0;
  for (int round = 0; round < 20'000; ++round) {
    const int spread = 1 + int(random() % 60);
    const bool aligned = random() % 2 == 0;
    auto x = random_array(random, spread, aligned), y = random_array(random, spread, aligned);
    if (aligned) y.element_bytes = x.element_bytes;
    bool twice = false;
    (void)elements(x, twice);
    const bool expected = share(x, y);
    ASSERT_EQ(share_memory(x, y), expected) << "round " << round;
    ASSERT_EQ(share_memory(y, x), expected) << "round " << round;
    ASSERT_EQ(shares_elements(x), twice) << "round " << round;
    (expected ? shared : apart)++;
    doubled += twice;
  }
  EXPECT_GT(shared, 1000);
  EXPECT_GT(apart, 1000);
  EXPECT_GT(doubled, 1000);
}

// Sub-arrays of arrays of 2^36 elements: nothing is counted through.
TEST(Overlap, OfLargeArrays) {
  const index_t n = 4096, row = n, plane = n * n;
  const strided_array interior{base + 8 * (plane + row + 1), 8, {n - 2, n - 2, n - 2}, {plane, row, 1}};
  const strided_array whole{base, 8, {n, n, n}, {plane, row, 1}};
  const strided_array border{base, 8, {n, n, 1}, {plane, row, 0}};
  EXPECT_TRUE(share_memory(interior, whole));
  EXPECT_FALSE(share_memory(interior, border));
  EXPECT_FALSE(shares_elements(whole));
  const strided_array even{base, 8, {n, n, n / 2}, {plane, row, 2}},
      odd{base + 8, 8, {n, n, n / 2}, {plane, row, 2}};
  EXPECT_FALSE(share_memory(even, odd));
  EXPECT_TRUE(share_memory(even, whole));
  const strided_array skewed{base, 8, {n, n, n}, {plane - 1, row, 1}};
  EXPECT_TRUE(shares_elements(skewed));
}

}  // namespace

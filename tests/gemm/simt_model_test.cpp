// What GPUs' model of time says of rows of a tile table, of an H100's size. It needs no GPU.
#include <gtest/gtest.h>

#include <keramos/gemm/plan/simt_model.hpp>

namespace keramos::test {
namespace {

namespace simt = backend::simt;

// A team with twice the tile of two others reads three quarters of what they do. That pays where operands are so large that
// teams find little in the cache of what others have read; here it costs 2 % else.
TEST(SimtModel, LargeOperandsWantLargeTiles) {
  constexpr simt::tile_row one{
      1, simt::f64, {{128, 128, 16}, {64, 32}, {16, 8, 8}, 3, 1, tiling::math_unit::matrix}, 0.915};
  constexpr simt::tile_row two{
      1, simt::f64, {{128, 64, 16}, {64, 32}, {16, 8, 8}, 3, 2, tiling::math_unit::matrix}, 0.93};
  simt::device_model device{132, 233472};
  device.cache_size = 50e6;
  const auto time = [&](const simt::tile_row& r, index_t n) {
    return detail::simt::choose_split(r, n, n, n, device).time;
  };
  for (const index_t n : {1024, 2048, 4096}) EXPECT_LT(time(two, n), time(one, n)) << n;
  for (const index_t n : {16384, 32768}) EXPECT_LT(time(one, n), time(two, n)) << n;
  EXPECT_GT(time(two, 32768), 1.2 * time(one, 32768));
  // Waves of short k-tiles, and the only wave of a long k, stay together.
  const auto copied = [&](index_t m, index_t n, index_t k) {
    return detail::simt::copied_in_a_clock(two, m, n, k, device, detail::simt::costs_of(two, device));
  };
  EXPECT_GT(copied(1000000, 512, 512), 0.9 * device.memory_bytes);
  EXPECT_EQ(copied(512, 512, 1000000), device.memory_bytes);
  EXPECT_EQ(copied(32768, 32768, 32768), device.least_memory_bytes);
}

TEST(SimtModel, CopiesOfShortElementsTakeLongerTheFewerBytesAreAligned) {
  constexpr simt::tile_row row{
      1, simt::bf16, {{64, 64, 32}, {32, 32}, {16, 8, 16}, 4, 4, tiling::math_unit::matrix, true}, 4.6};
  const simt::device_model device{132, 233472};
  double fastest = 0;
  for (const int alignment : {16, 8, 4, 0}) {
    const auto costs = detail::simt::costs_of_short(row, device, alignment, detail::simt::c_memory::vectors);
    const double time = detail::simt::choose_split(row, 2000, 1000, 1000, device, costs).time;
    EXPECT_GT(time, fastest) << alignment;
    fastest = time;
  }
}

}  // namespace
}  // namespace keramos::test

// What GPUs' model of time says of rows of a tile table, of an H100's size. It needs no GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include <keramos/gemm/kernel/pack.hpp>
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

// Whatever is free of charge, and however full the device is.
TEST(SimtModel, TimesOfDividedTilesBehindWholeOnesAreFinite) {
  constexpr simt::tile_row row{
      1, simt::f64, {{64, 64, 16}, {32, 32}, {16, 8, 8}, 4, 2, tiling::math_unit::matrix, true}, 0.88};
  constexpr double free_of_charge = std::numeric_limits<double>::infinity();
  const simt::device_model device{132, 233472};
  const auto changed = [&](const auto& change) {
    simt::device_model d = device;
    change(d);
    return d;
  };
  const simt::device_model devices[] = {
      device, changed([](auto& d) { d.fmas = free_of_charge; }),
      changed([](auto& d) { d.memory_bytes = free_of_charge; }), changed([](auto& d) { d.latency = 0; }),
      changed([](auto& d) { d.meeting = 0, d.adding_bytes = free_of_charge; })};
  for (const simt::device_model& d : devices)
    for (const int whole_tiles : {0, 1, 131, 132, 264, 300, 528, 575})
      for (const int parts : {2, 8, 96}) {
        split_plan split = detail::simt::plan_parts(row, 1536, parts, d);
        split.whole_tiles = whole_tiles;
        const double time = detail::simt::predicted_time(row, 1536, 1536, 1536, split, d);
        EXPECT_TRUE(std::isfinite(time) && time > 0) << whole_tiles << ' ' << parts;
      }
}

/// A product of n x n x n elements whose rows, or columns, follow each other.
template <class Types>
gemm_problem<Types> square(index_t n, bool a_along_k, bool b_along_k, index_t pitch) {
  return {{nullptr, a_along_k ? pitch : 1, a_along_k ? 1 : pitch},
          {nullptr, b_along_k ? pitch : 1, b_along_k ? 1 : pitch},
          nullptr,
          n,
          1,
          n,
          n,
          n};
}

/// Which operands are copied for FMA units, of products NN, NT, TN and TT: "a" and "b", in capitals if in bands.
template <class Types>
std::string copied(index_t n) {
  std::string text;
  for (const bool a_along_k : {true, false})
    for (const bool b_along_k : {false, true}) {
      gemm_part part;
      detail::simt::choose_packing(square<Types>(n, a_along_k, b_along_k, n), a_along_k, true, b_along_k,
                                   true, true, simt::device_model{132, 233472}, part);
      if (!part.pack_a && !part.pack_b) text += "-";
      if (part.pack_a) text += part.band_m < n ? "A" : "a";
      if (part.pack_b) text += part.band_n < n ? "B" : "b";
      text += " ";
    }
  return text;
}

TEST(SimtModel, OperandsAlongKAreCopiedForFmaUnitsWhereThatPays) {
  EXPECT_EQ(copied<types::f32>(1000), "- - - - ");
  EXPECT_EQ(copied<types::f32>(2048), "a ab - b ");
  EXPECT_EQ(copied<types::f32>(8192), "- b - - ") << "256 MiB are copied where two operands run along k";
  EXPECT_EQ(copied<types::c32>(2048), "a ab - b ");
  EXPECT_EQ(copied<types::c32>(16384), "A B - B ") << "one in bands";
  EXPECT_EQ(copied<types::c64>(2048), "- b - - ") << "elements are vectors";
  EXPECT_EQ(copied<types::f16>(2048), "- b - - ") << "short elements are shifted";
}

// What is divided behind whole tiles keeps the copies that align rows; where all tiles are divided they are few.
TEST(SimtModel, WholeTilesKeepCopiesThatAlign) {
  const index_t n = 4104;  // rows begin inside of sectors
  const auto copies = [&](const split_plan& split) {
    gemm_part part;
    part.split = split;
    detail::simt::pack_for_warpgroups(square<types::bf16>(n, true, false, n), true, true, {128, 192, 64},
                                      simt::device_model{132, 233472}, part);
    return part.pack_b;
  };
  EXPECT_TRUE(copies({}));
  EXPECT_TRUE(copies({4, 4, 1088, 660}));
  EXPECT_FALSE(copies({4, 4, 1088}));
}

}  // namespace
}  // namespace keramos::test

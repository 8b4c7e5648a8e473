// Tile tables of GPUs: what every row must hold to, and which types have rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

#include <keramos/enabled_backends.hpp>

namespace keramos::test {
namespace {

namespace simt = backend::simt;
using tiling::math_unit;

template <class Exec>
void test_rows() {
  if constexpr (!backend::traits<Exec>::is_host) {
    const Exec exec;
    const int arch = backend::tiles<Exec>::arch(exec);
    const auto model = backend::tiles<Exec>::model(exec);
    EXPECT_GT(model.units, 0);
    EXPECT_GE(model.unit_bytes, 32u << 10);
    const auto& table = backend::tiles<Exec>::table;
    for (const simt::tile_row& r : table) {
      const tiling::config& c = r.config;
      SCOPED_TRACE(std::to_string(&r - std::begin(table)) + ": " + to_string(c.block));
      EXPECT_EQ(c.block.m % c.warp.m, 0);
      EXPECT_EQ(c.block.n % c.warp.n, 0);
      EXPECT_LE(c.team_warps() * backend::traits<Exec>::warp_size, 1024);
      EXPECT_GE(c.stages, 1);
      EXPECT_GT(r.efficiency, 0);
      if (c.math == math_unit::fma) {
        EXPECT_EQ(c.warp.m / c.fragment.m * (c.warp.n / c.fragment.n), backend::traits<Exec>::warp_size);
      }
    }
    for (const auto& types :
         {simt::f32, simt::f64, simt::i32, simt::c32, simt::c64, simt::f16, simt::bf16, simt::i8, simt::f8})
      EXPECT_TRUE(std::any_of(std::begin(table), std::end(table),
                              [&](const simt::tile_row& r) {
                                return r.types == types && r.arch <= arch &&
                                       r.config.math != math_unit::warpgroup;
                              }))
          << "no row for a type of " << bytes_of(types.a) << " bytes";
  }
}

TEST(SimtTiles, RowsAreSound) {
#define KERAMOS_TEST(Space) test_rows<Space>();
  KERAMOS_FOR_EACH_SPACE(KERAMOS_TEST)
#undef KERAMOS_TEST
}

// f32 in two rows, on matrix units in one more; f16 and, on matrix units, bf16 in a row of their own.
constexpr simt::tile_row some_rows[] = {
    {1, simt::f32, {{128, 128, 8}, {64, 64}, {8, 8, 1}, 2, 2, math_unit::fma}, 1.0},
    {2, simt::f32, {{64, 64, 8}, {32, 32}, {4, 4, 1}, 2, 3, math_unit::fma, true}, 0.5},
    {3, simt::f32, {{64, 64, 16}, {32, 32}, {16, 8, 8}, 2, 3, math_unit::matrix}, 2.0},
    {4, simt::f16, {{32, 32, 8}, {32, 32}, {4, 4, 1}, 2, 3, math_unit::fma}, 0.3},
    {5, simt::bf16, {{64, 64, 32}, {32, 32}, {16, 16, 16}, 2, 3, math_unit::matrix}, 3.0}};

TEST(SimtTiles, ConvertedTypesHaveTheRowsOfF32) {
  constexpr const auto& rows = simt::with_converted_types<some_rows>.rows;
  constexpr int own = std::size(some_rows), types = std::size(simt::converted_types) - 2;  // two have a row
  ASSERT_EQ(int(std::size(rows)), own + 2 * types);
  for (int i = 0; i < own; ++i) EXPECT_EQ(rows[i].efficiency, some_rows[i].efficiency);
  for (const auto& type : simt::converted_types)
    EXPECT_EQ(simt::rows_of(rows, type), type == simt::f16 || type == simt::bf16 ? 1 : 2);
  for (int i = own; i < int(std::size(rows)); ++i) {
    const simt::tile_row& f32 = some_rows[(i - own) % 2];
    EXPECT_FALSE(rows[i].types == simt::f32);
    EXPECT_EQ(rows[i].arch, f32.arch);
    EXPECT_EQ(rows[i].config.block, f32.config.block);
    EXPECT_EQ(rows[i].config.splits_k, f32.config.splits_k);
    EXPECT_EQ(rows[i].efficiency, f32.efficiency);
  }
}

}  // namespace
}  // namespace keramos::test

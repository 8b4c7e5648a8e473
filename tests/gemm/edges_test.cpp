// What lies behind whole tiles: GPUs let the last tiles begin early, so that they share rows and columns with
// their neighbours (tile_order.hpp), and compute a few rows and columns apart (tile_choice.hpp).
#include <cmath>

#include <keramos/backends/simt/tile_choice.hpp>

#include "gemm_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
class GemmEdges : public testing::Test {};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(GemmEdges, types);

constexpr op ops[] = {op::N, op::T};

// With beta: what two tiles compute is written once.
TYPED_TEST(GemmEdges, SharedByTiles) {
  std::uint64_t seed = fresh_seed();
  int which = 0;
  for (const index_t m : {33, 65, 100, 129, 190})
    for (const index_t n : {36, 66, 101, 132, 255})
      for (const index_t k : {5, 48, 130}) {
        gemm_case g{m, n, k, ops[which % 2], ops[which / 2 % 2]};
        g.c = which % 3 ? layout::right : layout::left;
        g.gap = which % 5, g.alpha = 2, g.beta = which % 2 ? -3 : 1;
        ++which;
        ASSERT_TRUE(run<TypeParam>(g, seed++));
      }
}

TYPED_TEST(GemmEdges, ComputedApart) {
  std::uint64_t seed = fresh_seed();
  const index_t shapes[][3] = {{577, 1025, 65}, {1026, 200, 100}, {150, 1055, 90}, {1025, 1025, 40}};
  for (const auto& s : shapes)
    for (const op op_a : ops)
      for (const op op_b : ops)
        ASSERT_TRUE(run<TypeParam>({s[0], s[1], s[2], op_a, op_b, layout::right, layout::right, layout::right,
                                    0, 0, 1, s[2] == 65 ? 0.0 : -2.0},
                                   seed++));
}

// --- The choice, which needs no device -----------------------------------------------------------

using backend::simt::choose_main_part;

TEST(GemmEdgesChoice, CutsWhereARowOfTilesIsSaved) {
  const backend::simt::device_size device{132, 228 << 10};
  const auto choose = [&](index_t m, index_t n, double tile_time) {
    const auto time = [&](index_t m, index_t n) {
      const double wide = double(n) / 64;  // narrow results have narrow tiles
      return std::ceil(double(m) / 64) * (wide < 1 ? wide : std::ceil(wide)) * tile_time;
    };
    return choose_main_part(m, n, 1000, 4, device, time);
  };
  const auto cut = choose(1025, 2050, 10000);
  EXPECT_EQ(cut.m, 1024);
  EXPECT_EQ(cut.n, 2048);
  const auto one_side = choose(1024, 2050, 10000);
  EXPECT_EQ(one_side.m, 1024);
  EXPECT_EQ(one_side.n, 2048);
  const auto cheap = choose(1025, 2050, 1), small = choose(65, 129, 10000), odd = choose(1023, 2047, 10000);
  EXPECT_TRUE(cheap.m == 1025 && cheap.n == 2050);
  EXPECT_TRUE(small.m == 65 && small.n == 129);
  EXPECT_TRUE(odd.m == 1023 && odd.n == 2047);
}

}  // namespace

// What lies behind whole tiles: GPUs let the last tiles begin early, so that they share rows and columns with
// their neighbours (tile_order.hpp), and compute a few rows and columns apart (plan/simt_model.hpp).
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <keramos/gemm/plan/simt_model.hpp>

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

// Narrow products of every op and layout. Hosts transpose some so that vectors run along the longer extent, whatever C's memory
// runs along, and write C in blocks.
TYPED_TEST(GemmEdges, NarrowProducts) {
  const index_t shapes[][3] = {
      {700, 33, 300}, {33, 700, 300}, {1500, 3, 700}, {300, 17, 1100}, {49, 2500, 33}};
  std::uint64_t seed = fresh_seed();
  bool transposed = false, as_it_lies = false;
  for (const auto& [m, n, k] : shapes)
    for (const op op_a : ops)
      for (const op op_b : ops)
        for (const layout c : {layout::right, layout::left}) {
          gemm_case g{m, n, k};
          g.op_a = op_a, g.op_b = op_b, g.c = c;
          g.gap = seed % 3, g.alpha = -2, g.beta = seed % 2 ? 0.5 : 0;
          g.change_plan = [&](gemm_plan& plan) {
            const gemm_part& part = plan.parts[0];
            if (part.path == gemm_path::unpacked)
              (part.transposed == (c == layout::right) ? transposed : as_it_lies) = true;
          };
          ASSERT_TRUE(run<TypeParam>(g, seed++));
        }
  if (backend::traits<default_execution_space>::is_host) {
    EXPECT_TRUE(as_it_lies);
    EXPECT_EQ(transposed, std::is_floating_point_v<TypeParam>);
  }
}

// Whatever parts k is done in: an infinite alpha times those would make NaN of sums of both signs.
TYPED_TEST(GemmEdges, AnInfiniteAlphaMultipliesWholeSums) {
  if constexpr (std::is_floating_point_v<TypeParam>) {
    constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
    const index_t shapes[][3] = {{3, 4, 9000}, {9, 7, 900}, {40, 40, 700}, {20, 120, 900}, {200, 150, 3000}};
    for (const auto& [m, n, k] : shapes)
      for (const layout la : {layout::right, layout::left})
        for (const layout lb : {layout::right, layout::left}) {
          stored_matrix<TypeParam> a(m, k, la, 0, 0), b(k, n, lb, 0, 0), c(m, n, layout::right, 0, 0);
          for (index_t p = 0; p < k; ++p) {
            for (index_t i = 0; i < m; ++i) a.at(i, p) = p < k - 10 ? TypeParam(1) / 64 : -TypeParam(k);
            for (index_t j = 0; j < n; ++j) b.at(p, j) = 1;
          }
          a.upload(), b.upload(), c.upload();
          queue q;
          gemm(q, infinity, a.view, b.view, 0, c.view).wait();
          c.download();
          for (index_t i = 0; i < m; ++i)
            for (index_t j = 0; j < n; ++j)
              ASSERT_EQ(c.at(i, j), -infinity) << m << " x " << n << " x " << k << " at " << i << ", " << j;
        }
  }
}

int products_seen = 0;
void count_product(const char* label, std::uint32_t, std::uint64_t*) {
  const std::string name = label;
  products_seen += name.find("keramos::gemm") == 0 && name != "keramos::gemm_pack";
}

// Shapes of which an H200 computes rows, columns, or both apart.
TYPED_TEST(GemmEdges, ComputedApart) {
  if (backend::traits<default_execution_space>::is_host) GTEST_SKIP() << "hosts compute all in one piece";
  namespace tools = Kokkos::Tools::Experimental;
  using shape = std::array<index_t, 3>;
  const std::vector<shape> shapes =
      std::is_same_v<TypeParam, float>    ? std::vector<shape>{{1025, 4097, 100}, {1025, 2049, 600}}
      : std::is_same_v<TypeParam, double> ? std::vector<shape>{{1025, 2049, 600}}
                                          : std::vector<shape>{{641, 1537, 200}, {577, 1089, 1500}};
  const bool like_h200 = queue().device().units >= 132;
  std::uint64_t seed = fresh_seed();
  int runs = 0;
  products_seen = 0;
  for (const auto& [m, n, k] : shapes)
    for (const op op_a : ops) {
      if (op_a == op::T && m * n * k > 500000000) continue;  // the reference takes long
      gemm_case g{m, n, k, op_a, op::N};
      g.c = op_a == op::N ? layout::right : layout::left;
      g.beta = -2;
      tools::set_begin_parallel_for_callback(count_product);
      const auto right = run<TypeParam>(g, seed++);
      tools::set_begin_parallel_for_callback(nullptr);
      ASSERT_TRUE(right);
      ++runs;
    }
  if (like_h200) {
    EXPECT_GT(products_seen, runs) << "all were computed in one piece";
  }
}

// --- The choice, which needs no device -----------------------------------------------------------

using detail::simt::choose_main_part;

TEST(GemmEdgesChoice, CutsWhereARowOfTilesIsSaved) {
  const backend::simt::device_model device{132, 228 << 10};
  const auto choose = [&](index_t m, index_t n, double tile_time) {
    const auto time = [&](index_t m, index_t n, bool) {
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

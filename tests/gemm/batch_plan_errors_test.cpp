// What the plan of a batch says, and which plans are refused.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batch_plan_case.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

TEST(GemmBatchPlanText, SaysWhatIsDone) {
  gemm_batch_plan plan;
  EXPECT_EQ(to_string(plan), "nothing to multiply");
  plan.count = 1000, plan.m = 8, plan.n = 7, plan.k = 6;
  plan.way = batch_way::small;
  EXPECT_EQ(to_string(plan), "1000 of m x n x k = 8 x 7 x 6: small, one a thread");
  plan.row = 1, plan.block = {8, 8, 8}, plan.stages = 2, plan.team_problems = 16, plan.transposed = true;
  EXPECT_EQ(to_string(plan),
            "1000 of m x n x k = 8 x 7 x 6: small by FMA units, block tile 8x8x8, 2 stages, 16 a team, "
            "transposed");
  plan.way = batch_way::tiled, plan.transposed = false, plan.math = tiling::math_unit::warpgroup;
  plan.is_list = true;
  EXPECT_EQ(to_string(plan),
            "1000 of at most m x n x k = 8 x 7 x 6: tiled by warpgroups, block tile 8x8x8, 2 stages");
  plan.way = batch_way::one_product, plan.is_list = false;
  plan.products.resize(1);
  gemm_plan& product = plan.products[0];
  product.size = 1, product.parts[0].m = 8000, product.parts[0].n = 7, product.parts[0].block = {24, 32, 64};
  const std::string line = "\n8000 x 7 of C: tiled, block tile 24x32x64, 1 stage";
  EXPECT_EQ(to_string(plan), "1000 of m x n x k = 8 x 7 x 6: as one product" + line);
  plan.way = batch_way::small, plan.row = -1, plan.is_list = true;
  EXPECT_EQ(to_string(plan),
            "1000 of at most m x n x k = 8 x 7 x 6: small, one a thread, 1 larger ones one by one" + line);
}

TEST(GemmBatchPlanErrors, NothingToMultiplyNeedsNoPlan) {
  batches<float> x(3, 7, 5, 0);
  EXPECT_EQ(to_string(x.plan()), "nothing to multiply");
  const auto c = x.product({.plan = gemm_batch_plan()});
  EXPECT_TRUE(std::all_of(c.begin(), c.begin() + 3 * 7 * 5, [](float e) { return e == 0; }));
  EXPECT_EQ(to_string(list_of<float>({{0, 3, 3}, {4, 4, 0}}).plan()), "nothing to multiply");
}

/// The batch is refused with all these words, and C is as it was.
template <class Operands, class Change>
void expect_refused(Operands x, const Change& change, const std::vector<std::string>& words) {
  gemm_batch_plan plan = x.plan();
  change(plan);
  try {
    x.product({.plan = plan});
    ADD_FAILURE() << "not refused: " << to_string(plan);
  } catch (const error& e) {
    for (const auto& word : words) EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
  }
  EXPECT_TRUE(x.is_untouched());
}
batches<float> tiled_ones() { return {300, 130, 140, 150}; }
batches<float> tiny_ones() { return {30, 8, 8, 8}; }
list_of<float> listed() { return list_of<float>(mixed_ones); }

TEST(GemmBatchPlanErrors, APlanForAnotherBatch) {
  expect_refused(
      tiled_ones(), [](gemm_batch_plan& p) { p.count = 301; },
      {"keramos::gemm_batched: options.plan is for a batch of 301 with m x n x k = 130 x 140 x 150",
       "this is a batch of 300", "plan_gemm_batched"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.k = 151; }, {"130 x 140 x 151 of f32"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.type = "f64"; }, {"of f64", "of f32"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.backend = "Abacus"; }, {"on Abacus"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p = listed().plan(); },
                 {"a list of 8, the largest m x n x k = 300 x 190 x 240", "a batch of 300"});
  expect_refused(listed(), [](gemm_batch_plan& p) { p = tiled_ones().plan(); }, {"this is a list of 8"});
  expect_refused(listed(), [](gemm_batch_plan& p) { p.m = 299; }, {"299 x 190", "300 x 190"});
}
TEST(GemmBatchPlanErrors, ProductsThatAreNotThese) {
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.products.resize(2); }, {"has plans of 2 products"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.way = batch_way::one_by_one, p.products.clear(); },
                 {"has plans of 0 products, of which 1"});
  expect_refused(tiled_ones(),
                 [](gemm_batch_plan& p) { p.way = batch_way::one_by_one, p.products.resize(1); },
                 {"keramos::gemm: options.plan is for m x n x k = 0 x 0 x 0"});
  expect_refused(batches<float>(10, 12, 30, 40, layout::right, spacing::packed, spacing::shared),
                 [](gemm_batch_plan& p) { p.products[0].parts[0].m -= 1; },
                 {"do not make up C, which is 120 x 30"});
  expect_refused(listed(), [](gemm_batch_plan& p) { p.products.resize(7); }, {"has plans of 7 products"});
  if (on_host)
    expect_refused(listed(), [](gemm_batch_plan& p) { std::swap(p.products[0], p.products[1]); },
                   {"options.plan is for m x n x k = 150 x 190 x 160"});
}
TEST(GemmBatchPlanErrors, WaysThatAreNot) {
  const auto as_one = [](gemm_batch_plan& p) { p.way = batch_way::one_product, p.products.resize(1); };
  expect_refused(tiled_ones(), as_one, {"as one product, but its problems do not lie so"});
  expect_refused(listed(), as_one, {"as one product, which a list is not"});
  expect_refused(listed(), [](gemm_batch_plan& p) { p.transposed = true; }, {"transposes a list"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.way = batch_way::small; },
                 {on_host ? "too large for that" : "which are up to 32 x 32"});
  const auto tiled = [](gemm_batch_plan& p) {
    p.way = batch_way::tiled, p.block = {32, 32, 32}, p.products.clear();
  };
  if (on_host) expect_refused(listed(), tiled, {"a list in tiles"});
}
TEST(GemmBatchPlanErrors, Tiles) {
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.block.k = 0; },
                 {"keramos::gemm_batched: options.plan has a block tile of", "2^20"});
  if (on_host) {
    expect_refused(tiled_ones(),
                   [](gemm_batch_plan& p) {
                     p.block = {9999, 9999, 9999};
                   },
                   {"has a block tile of 9999x9999x9999", "bytes of local memory"});
    return;
  }
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.row = 99; }, {"names row 99 of the tile table"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.block.m += 1; },
                 {"has a block tile of", "of the tile table has"});
  expect_refused(tiled_ones(), [](gemm_batch_plan& p) { p.math = tiling::math_unit::warpgroup; },
                 {"by warpgroups", "by FMA units"});
  expect_refused(tiny_ones(), [](gemm_batch_plan& p) { p.row = 99; },
                 {"names row 99 of the tables for small"});
  expect_refused(tiny_ones(), [](gemm_batch_plan& p) { p.row = 0; }, {"names row 0 of the tables for small"});
  expect_refused(tiny_ones(), [](gemm_batch_plan& p) { p.stages += 1; },
                 {"stages by FMA units, but row", "of the tables for small problems has"});
}

}  // namespace

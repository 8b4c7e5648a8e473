// Products of sixteen-bit elements: sums in f32, results in the elements' type or in f32.
#include <gtest/gtest.h>

#include "product_cases.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class Elements>
class GemmHalves : public testing::Test {
 protected:
  static judged_products products() { return products_of<typename Elements::a, typename Elements::c>(); }
};
using halves = testing::Types<elements<float16, float16, float16>, elements<float16, float16, float>,
                              elements<bfloat16, bfloat16, bfloat16>, elements<bfloat16, bfloat16, float>>;
TYPED_TEST_SUITE(GemmHalves, halves);

TYPED_TEST(GemmHalves, SizesAndOps) { sizes_and_ops(this->products()); }
TYPED_TEST(GemmHalves, EveryOpAndLayout) { every_op_and_layout(this->products()); }
TYPED_TEST(GemmHalves, RandomLayoutsAndScalars) { random_layouts_and_scalars(this->products()); }
TYPED_TEST(GemmHalves, LongK) { long_k(this->products()); }
TYPED_TEST(GemmHalves, PackedBeforehandAndCut) { packed_beforehand_and_cut(this->products()); }
TYPED_TEST(GemmHalves, Batches) { batches(this->products()); }
TYPED_TEST(GemmHalves, SmallBatches) { small_batches(this->products()); }
TYPED_TEST(GemmHalves, Lists) { lists(this->products()); }
TYPED_TEST(GemmHalves, ManyTiles) { many_tiles(this->products()); }

// Hosts multiply elements where they lie only if sums are of their type.
TYPED_TEST(GemmHalves, PlansThatMultiplyInPlaceAreRefused) {
  using T = typename TypeParam::a;
  using C = typename TypeParam::c;
  if (!on_host) return;
  const stored_matrix<T> a(9, 9, layout::right, 0, 0);
  const stored_matrix<C> c(9, 9, layout::right, 0, 0);
  queue q;
  gemm_plan plan = plan_gemm(q, a.view, a.view, c.view);
  EXPECT_EQ(plan.parts[0].path, gemm_path::tiled);
  plan.parts[0].path = gemm_path::unpacked;
  EXPECT_THROW(gemm(q, 1, a.view, a.view, 0, c.view, {.plan = plan}), invalid_argument);
}

}  // namespace
}  // namespace keramos::test

// Products of integers of eight bits, with a sign or without in any mix: sums modulo 2^32, so there is one right answer.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "product_cases.hpp"

namespace keramos::test {
namespace {

using i8 = std::int8_t;
using u8 = std::uint8_t;
using i32 = std::int32_t;

template <class Elements>
class GemmBytes : public testing::Test {
 protected:
  static judged_products products() {
    return products_of<typename Elements::a, typename Elements::c, typename Elements::b>();
  }
};
using mixes =
    testing::Types<elements<i8, i8, i32>, elements<i8, u8, i32>, elements<u8, i8, i32>, elements<u8, u8, i32>,
                   elements<i8, i8, i8>, elements<i8, u8, u8>, elements<u8, i8, i8>, elements<u8, u8, u8>>;
TYPED_TEST_SUITE(GemmBytes, mixes);

TYPED_TEST(GemmBytes, SizesAndOps) { sizes_and_ops(this->products()); }
TYPED_TEST(GemmBytes, EveryOpAndLayout) { every_op_and_layout(this->products()); }
TYPED_TEST(GemmBytes, RandomLayoutsAndScalars) { random_layouts_and_scalars(this->products()); }
TYPED_TEST(GemmBytes, LongK) { long_k(this->products()); }
TYPED_TEST(GemmBytes, PackedBeforehandAndCut) { packed_beforehand_and_cut(this->products()); }
TYPED_TEST(GemmBytes, Batches) { batches(this->products()); }
TYPED_TEST(GemmBytes, Lists) { lists(this->products()); }
TYPED_TEST(GemmBytes, ManyTiles) { many_tiles(this->products()); }

// The other mixes are done by the same kernels, which are told of each operand, and of C, whether it has a sign.
template <class Elements>
class GemmOtherBytes : public testing::Test {};
using other_mixes =
    testing::Types<elements<i8, i8, u8>, elements<i8, u8, i8>, elements<u8, i8, u8>, elements<u8, u8, i8>>;
TYPED_TEST_SUITE(GemmOtherBytes, other_mixes);

TYPED_TEST(GemmOtherBytes, EveryOpAndLayout) {
  every_op_and_layout(products_of<typename TypeParam::a, typename TypeParam::c, typename TypeParam::b>());
}

// The largest numbers, whose sums pass 2^31: alpha = 1 then leaves C of eight bits its smallest or largest number.
TYPED_TEST(GemmBytes, SumsWrapAround) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  const index_t m = 40, n = 35, k = 140000;
  stored_matrix<A> a(m, k, layout::right, 0, 0);
  stored_matrix<B> b(k, n, layout::left, 0, 0);
  stored_matrix<C> c(m, n, layout::right, 0, 0);
  const A x = std::is_signed_v<A> ? std::numeric_limits<A>::min() : std::numeric_limits<A>::max();
  const B y = std::is_signed_v<B> ? std::numeric_limits<B>::min() : std::numeric_limits<B>::max();
  a.fill_all([=] { return x; }), b.fill_all([=] { return y; });
  a.upload(), b.upload();
  queue q;
  gemm(q, 1, a.view, b.view, 0, c.view).wait();
  c.download();
  const auto sum = static_cast<i32>(static_cast<std::uint32_t>(std::int64_t(x) * y * k));
  const C expected = C(std::clamp<i32>(sum, std::numeric_limits<C>::min(), std::numeric_limits<C>::max()));
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) ASSERT_EQ(c.at(i, j), expected) << i << ", " << j;
}

}  // namespace
}  // namespace keramos::test

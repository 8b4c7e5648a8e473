// Products of elements of two types with an epilogue of the caller's.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include <keramos/gemm/fused.hpp>

#include "fused_mixes.hpp"
#include "mixed_case.hpp"

namespace keramos::test {
namespace {

template <class Elements>
class FusedMixed : public testing::Test {};
TYPED_TEST_SUITE(FusedMixed, mixes);

index_t code_of(index_t i, index_t j, index_t batch) { return i * 31 + j * 17 + batch * 101; }

struct adds_place {
  template <class T>
  KERAMOS_FUNCTION T operator()(const T& acc, index_t i, index_t j, index_t batch) const {
    return acc + T(float(i * 31 + j * 17 + batch * 101));
  }
};

/// Two problems of a list. (Of batches on devices other tests have f32 alone, since its kernels take minutes to compile.)
template <class Problem>
void lists(queue& q, Problem& x, Problem& y) {
  const std::vector av{y.a.view, x.a.view};
  const std::vector bv{y.b.view, x.b.view};
  const std::vector cv{y.c.view, x.c.view};
  gemm_batched(q, av, bv, cv, adds_place()).wait();
  for (const auto* p : {&x, &y})
    record_support("batched epilogue", p->a.view, p->b.view, p->c.view, op::N, op::N);
  EXPECT_TRUE(y.judge([](index_t i, index_t j) { return code_of(i, j, 0); }));
  EXPECT_TRUE(x.judge([](index_t i, index_t j) { return code_of(i, j, 1); }));
}

TYPED_TEST(FusedMixed, EpiloguesSeeTheCallersPlaces) {
  queue q;
  for (const layout l : {layout::right, layout::left}) {
    whole_numbers<TypeParam> x(70, 90, 40, l), y(20, 11, 5, l);
    gemm(q, x.a.view, x.b.view, x.c.view, adds_place()).wait();
    record_support("epilogue", x.a.view, x.b.view, x.c.view, op::N, op::N);
    EXPECT_TRUE(x.judge([](index_t i, index_t j) { return code_of(i, j, 0); }));
    // By a plan, which was made for this epilogue.
    gemm(q, x.a.view, x.b.view, x.c.view, adds_place(),
         {.plan = plan_gemm(q, x.a.view, x.b.view, x.c.view, adds_place())})
        .wait();
    EXPECT_TRUE(x.judge([](index_t i, index_t j) { return code_of(i, j, 0); }));
    if constexpr (backend::traits<default_execution_space>::is_host) lists(q, x, y);
  }
}

TYPED_TEST(FusedMixed, EveryOpAndLayout) {
  using C = typename TypeParam::c;
  expect_with_every_op_and_layout<typename TypeParam::a, typename TypeParam::b, C>(
      adds_place(), [](const auto& sum, index_t i, index_t j, index_t batch) {
        return whole_numbers<TypeParam>::as_c(sum) + C(float(code_of(i, j, batch)));
      });
}

// NaN and infinity go where IEEE arithmetic of a real number and a complex one has them: parts do not meet.
TYPED_TEST(FusedMixed, NanAndInfinityStayInTheirPart) {
  using C = typename TypeParam::c;
  if constexpr (complex_like<C>) {
    using R = typename C::value_type;
    const R inf = std::numeric_limits<R>::infinity(), nan = std::numeric_limits<R>::quiet_NaN();
    constexpr bool b_is_complex = complex_like<typename TypeParam::b>;
    for (const R special : {inf, nan}) {
      whole_numbers<TypeParam> x(40, 30, 20, layout::right);
      if constexpr (b_is_complex)
        x.b.at(7, 3) = C(1, special);
      else
        x.a.at(3, 7) = C(1, special);
      for (index_t i = 0; i < 40; ++i)
        if constexpr (b_is_complex) x.a.at(i, 7) = 2;
      for (index_t j = 0; j < 30; ++j)
        if constexpr (!b_is_complex) x.b.at(7, j) = 2;
      x.a.upload(), x.b.upload();
      queue q;
      gemm(q, x.a.view, x.b.view, x.c.view, adds_place()).wait();
      x.c.download();
      for (index_t i = 0; i < 40; ++i)
        for (index_t j = 0; j < 30; ++j) {
          const C z = x.c.at(i, j);
          EXPECT_TRUE(std::isfinite(z.real())) << i << ", " << j;
          EXPECT_EQ(std::isfinite(z.imag()), (b_is_complex ? j : i) != 3) << i << ", " << j;
        }
    }
  } else {
    const float inf = std::numeric_limits<float>::infinity();
    whole_numbers<TypeParam> x(40, 30, 20, layout::left);
    x.a.at(3, 7) = typename TypeParam::a(inf);
    for (index_t j = 0; j < 30; ++j) x.b.at(7, j) = typename TypeParam::b(1.0f);
    x.a.upload(), x.b.upload();
    queue q;
    gemm(q, 2, x.a.view, x.b.view, 0, x.c.view).wait();
    x.c.download();
    for (index_t i = 0; i < 40; ++i)
      for (index_t j = 0; j < 30; ++j) EXPECT_EQ(x.c.at(i, j) == inf, i == 3) << i << ", " << j;
  }
}

}  // namespace
}  // namespace keramos::test

// Epilogues of callers with elements of each type, on whole numbers: their sums are exact, so there is one right answer.
// (f32, f64 and i32: fused_test.cpp. Two types at once: mixed_fused_test.cpp.)
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstdint>

#include <keramos/gemm/fused.hpp>

#include "bytes_product.hpp"
#include "fused_mixes.hpp"

namespace keramos::test {
namespace {

constexpr bool on_host = backend::traits<default_execution_space>::is_host;

template <class Elements>
class FusedHalves : public testing::Test {};
using halves = testing::Types<elements<float16, float16, float16>, elements<float16, float16, float>,
                              elements<bfloat16, bfloat16, bfloat16>, elements<bfloat16, bfloat16, float>>;
TYPED_TEST_SUITE(FusedHalves, halves);

// Computes in float, whatever C's elements are.
struct adds_place {
  KERAMOS_FUNCTION float operator()(float acc, index_t i, index_t j, index_t) const {
    return acc + float(i % 4) - float(j % 4);
  }
};

// Tiles of warpgroups are compiled in the library alone. (Hosts have no such tiles: there the block is one like others.)
TYPED_TEST(FusedHalves, PlansForTheCallersEpilogue) {
  using T = typename TypeParam::a;
  using C = typename TypeParam::c;
  const stored_matrix<T> a(256, 256, layout::right, 0, 0);
  const stored_matrix<C> c(256, 256, layout::right, 0, 0);
  queue q;
  const gemm_plan own = plan_gemm(q, a.view, a.view, c.view, adds_place());
  gemm(q, a.view, a.view, c.view, adds_place(), {.plan = own});
  q.wait();
  gemm_plan of_library;
  try {
    of_library = plan_gemm(q, a.view, a.view, c.view, {.block = tiling::shape{128, 256, 64}});
  } catch (const launch_error&) {  // no such tile on this device
    return;
  }
  if (on_host) {
    gemm(q, a.view, a.view, c.view, adds_place(), {.plan = of_library});
    q.wait();
  } else {
    EXPECT_THROW(gemm(q, a.view, a.view, c.view, adds_place(), {.plan = of_library}), invalid_argument);
  }
}

// Products of halves are exact in f32, so sums of whole numbers are too, in any order.
TYPED_TEST(FusedHalves, WholeNumbersAreExact) {
  using T = typename TypeParam::a;
  using C = typename TypeParam::c;
  const index_t m = 70, n = 50, k = 64;
  const Kokkos::View<T**, Kokkos::LayoutRight, default_execution_space> a("a", m, k), b("b", k, n);
  const Kokkos::View<C**, Kokkos::LayoutRight, default_execution_space> c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) ha(i, p) = T(int(i + p) % 3 - 1);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) hb(p, j) = T(int(2 * p + j) % 5 - 2);
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  queue q;
  gemm(q, a, b, c, epilogue::linear(0.5, 0) | adds_place());
  q.wait();
  record_support("epilogue", as_matrix(a), as_matrix(b), as_matrix(c), op::N, op::N);
  const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const float sum = float(reference::product_element(ha, hb, i, j, k).value);
      ASSERT_EQ(float(hc(i, j)), float(C(0.5f * sum + float(i % 4) - float(j % 4)))) << i << ", " << j;
    }
}

TYPED_TEST(FusedHalves, EveryOpAndLayout) {
  using T = typename TypeParam::a;
  using C = typename TypeParam::c;
  expect_with_every_op_and_layout<T, T, C>(
      epilogue::linear(0.5, 0) | adds_place(),
      [](double sum, index_t i, index_t j, index_t) { return C(0.5f * float(sum) + float(i % 4 - j % 4)); });
}

template <class T>
class FusedComplex : public testing::Test {};
using complex_types = testing::Types<Kokkos::complex<float>, Kokkos::complex<double>>;
TYPED_TEST_SUITE(FusedComplex, complex_types);

struct adds_complex_place {
  template <class R>
  KERAMOS_FUNCTION complex<R> operator()(complex<R> acc, index_t i, index_t j, index_t) const {
    return acc + complex<R>(R(i % 4), R(j % 4));
  }
};

// Whole numbers are exact, so there is one right answer; callers' other classes of complex numbers are taken as well.
TYPED_TEST(FusedComplex, EpilogueAndClassesOfOthers) {
  using R = typename TypeParam::value_type;
  using Z = std::complex<R>;
  const index_t m = 70, n = 50, k = 64;
  using matrix = Kokkos::View<TypeParam**, Kokkos::LayoutRight, default_execution_space>;
  const matrix a("a", m, k), b("b", k, n), c("c", m, n);
  const auto ha = Kokkos::create_mirror_view(a), hb = Kokkos::create_mirror_view(b);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) ha(i, p) = TypeParam(R(int(i + p) % 3 - 1), R(int(i * p) % 5 - 2));
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j)
      hb(p, j) = TypeParam(R(int(2 * p + j) % 5 - 2), R(int(p + 3 * j) % 3 - 1));
  Kokkos::deep_copy(a, ha);
  Kokkos::deep_copy(b, hb);
  queue q;
  const matrix_view<Z> of_std{reinterpret_cast<Z*>(a.data()), m, k, k, 1};
  const matrix_view<keramos::complex<R>> of_keramos{reinterpret_cast<keramos::complex<R>*>(b.data()), k, n, n,
                                                    1};
  const auto multiply = [&](const auto& zero) {  // beta of any class of numbers
    Kokkos::deep_copy(c, TypeParam(R(std::nan("")), R(0)));
    gemm(q, of_std, of_keramos, c, epilogue::linear(Z(0, 1), zero) | adds_complex_place());
    q.wait();
    return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  };
  record_support("epilogue", of_std, of_keramos, as_matrix(c), op::N, op::N);
  for (const auto& hc : {multiply(0), multiply(Z(0)), multiply(TypeParam(0))})
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) {
        const auto sum = reference::product_element(ha, hb, i, j, k).value;
        ASSERT_EQ(Z(hc(i, j).real(), hc(i, j).imag()), (Z(R(i % 4 - sum.im), R(j % 4 + sum.re))))
            << i << ", " << j;
      }
}

TYPED_TEST(FusedComplex, EveryOpAndLayout) {
  using R = typename TypeParam::value_type;
  using Z = std::complex<R>;
  expect_with_every_op_and_layout<TypeParam, TypeParam, TypeParam>(
      epilogue::linear(Z(0, 1), 0) | adds_complex_place(),
      [](const auto& sum, index_t i, index_t j, index_t) {
        return TypeParam(R(i % 4) - R(sum.im), R(j % 4) + R(sum.re));
      });
}

template <class Elements>
class FusedEights : public testing::Test {};
using eights_to_float =
    testing::Types<elements<float8_e4m3, float8_e4m3, float>, elements<float8_e4m3, float8_e5m2, float>,
                   elements<float8_e5m2, float8_e4m3, float>, elements<float8_e5m2, float8_e5m2, float>>;
// On devices the kernels of a type take minutes to compile, and fused_warpgroup_f8_bf16_test.cpp has C of two bytes.
using eights = std::conditional_t<
    on_host,
    testing::Types<elements<float8_e4m3, float8_e4m3, float>, elements<float8_e4m3, float8_e5m2, float>,
                   elements<float8_e5m2, float8_e4m3, float>, elements<float8_e5m2, float8_e5m2, float>,
                   elements<float8_e4m3, float8_e4m3, float16>, elements<float8_e4m3, float8_e5m2, float16>,
                   elements<float8_e5m2, float8_e4m3, float16>, elements<float8_e5m2, float8_e5m2, float16>,
                   elements<float8_e4m3, float8_e4m3, bfloat16>, elements<float8_e4m3, float8_e5m2, bfloat16>,
                   elements<float8_e5m2, float8_e4m3, bfloat16>,
                   elements<float8_e5m2, float8_e5m2, bfloat16>>,
    eights_to_float>;
TYPED_TEST_SUITE(FusedEights, eights);

// Scales of rows and columns, as quantised networks have them.
TYPED_TEST(FusedEights, ScalesOfRowsAndColumns) {
  using A = typename TypeParam::a;
  using B = typename TypeParam::b;
  using C = typename TypeParam::c;
  const index_t m = 50, n = 70, k = 64;
  stored_matrix<A> a(m, k, layout::right, 0, 0);
  stored_matrix<B> b(k, n, layout::right, 0, 0);
  stored_matrix<C> c(m, n, layout::right, 0, 0);
  for (index_t i = 0; i < m; ++i)
    for (index_t p = 0; p < k; ++p) a.at(i, p) = A(int(i + p) % 3 - 1);
  for (index_t p = 0; p < k; ++p)
    for (index_t j = 0; j < n; ++j) b.at(p, j) = B(int(2 * p + j) % 5 - 2);
  const Kokkos::View<float*, default_execution_space> rows("rows", m), cols("columns", n);
  const auto of_row = Kokkos::create_mirror_view(rows), of_col = Kokkos::create_mirror_view(cols);
  for (index_t i = 0; i < m; ++i) of_row(i) = std::ldexp(1.0f, int(i % 5) - 2);
  for (index_t j = 0; j < n; ++j) of_col(j) = 1 + float(j % 3);
  Kokkos::deep_copy(rows, of_row);
  Kokkos::deep_copy(cols, of_col);
  a.upload(), b.upload();
  queue q;
  gemm(q, a.view, b.view, c.view, epilogue::scale_by_row(rows) | epilogue::scale_by_column(cols));
  record_support("epilogue", a.view, b.view, c.view, op::N, op::N);
  q.wait();
  c.download();
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const float sum = float(reference::product_element(a.applied(), b.applied(), i, j, k).value);
      ASSERT_EQ(float(c.at(i, j)), float(C(sum * of_row(i) * of_col(j)))) << i << ' ' << j;
    }
}

TYPED_TEST(FusedEights, EveryOpAndLayout) {
  using C = typename TypeParam::c;
  const Kokkos::View<float*, default_execution_space> rows("rows", 13), cols("columns", 9);
  Kokkos::deep_copy(rows, 0.5f);
  Kokkos::deep_copy(cols, 3.0f);
  expect_with_every_op_and_layout<typename TypeParam::a, typename TypeParam::b, C>(
      epilogue::scale_by_row(rows) | epilogue::scale_by_column(cols),
      [](double sum, index_t, index_t, index_t) { return C(1.5f * float(sum)); });
}

template <class Elements>
class FusedBytes : public testing::Test {};
using bytes = testing::Types<elements<i8, i8, i32>, elements<i8, u8, i32>, elements<u8, i8, i32>,
                             elements<u8, u8, i32>>;
TYPED_TEST_SUITE(FusedBytes, bytes);

// Computes in the type of sums, with its sign. (What computes in float, for a C of eight bits, is in quantized_test.cpp.)
struct halves_and_adds_place {
  KERAMOS_FUNCTION i32 operator()(i32 acc, index_t i, index_t j, index_t) const {
    return acc / 2 + i32(i % 4) - i32(j % 4);
  }
};

TYPED_TEST(FusedBytes, Epilogue) {
  bytes_product<typename TypeParam::a, typename TypeParam::b, i32> p(fresh_seed());
  p.run(halves_and_adds_place());
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j)
      ASSERT_EQ(p.c.at(i, j), p.sum(i, j) / 2 + i32(i % 4) - i32(j % 4)) << i << ", " << j;
}

TYPED_TEST(FusedBytes, EveryOpAndLayout) {
  expect_with_every_op_and_layout<typename TypeParam::a, typename TypeParam::b, i32>(
      halves_and_adds_place(), [](std::uint32_t sum, index_t i, index_t j, index_t) {
        return i32(sum) / 2 + i32(i % 4) - i32(j % 4);
      });
}

}  // namespace
}  // namespace keramos::test

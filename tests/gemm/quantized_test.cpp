// C of eight-bit integers: what callers' epilogues and the library's update make of sums. Sizes, layouts and batches of such
// products are in bytes_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "bytes_product.hpp"
#include "fused_mixes.hpp"

namespace keramos::test {
namespace {

// A layer of a quantised network: a scale for each row, a bias for each column, an activation.
template <class Vector>
auto layer(const Vector& scale, const Vector& bias, float low, float high) {
  return epilogue::scale_by_row(scale) | epilogue::bias_by_column(bias) | epilogue::clamp(low, high);
}

template <class Elements>
class GemmQuantized : public testing::Test {
 public:
  using c = typename Elements::c;
  using product = bytes_product<typename Elements::a, typename Elements::b, c>;
  using vector = Kokkos::View<float*, default_execution_space>;

  static void run_layer(product& p, const std::vector<float>& scales, const std::vector<float>& biases,
                        float low, float high) {
    const vector scale = on_device(scales), bias = on_device(biases);
    p.run(layer(scale, bias, low, high));
  }

 private:
  static vector on_device(const std::vector<float>& values) {
    const vector v("v", values.size());
    const auto host = Kokkos::create_mirror_view(v);
    for (std::size_t i = 0; i < values.size(); ++i) host(i) = values[i];
    Kokkos::deep_copy(v, host);
    return v;
  }
};
// On devices the kernels of the others take minutes more to compile.
using mixes = std::conditional_t<
    backend::traits<default_execution_space>::is_host,
    testing::Types<elements<i8, i8, i8>, elements<i8, u8, u8>, elements<u8, i8, i8>, elements<u8, u8, u8>,
                   elements<i8, i8, u8>, elements<i8, u8, i8>, elements<u8, i8, u8>, elements<u8, u8, i8>>,
    testing::Types<elements<i8, i8, i8>, elements<i8, u8, u8>, elements<u8, i8, i8>, elements<u8, u8, u8>>>;
TYPED_TEST_SUITE(GemmQuantized, mixes);

TYPED_TEST(GemmQuantized, Layer) {
  using C = typename TestFixture::c;
  typename TestFixture::product p(fresh_seed());
  std::vector<float> scales(p.m), biases(p.n);
  for (index_t i = 0; i < p.m; ++i) scales[i] = 0x1p-9f * float(1 + i % 5);
  for (index_t j = 0; j < p.n; ++j) biases[j] = float(j % 7) - 3.25f;
  const float low = -60, high = 99.5;
  this->run_layer(p, scales, biases, low, high);
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j) {
      const float x = scales[i] * float(p.sum(i, j)) + biases[j];  // exact within C's range
      const float expected = std::rint(std::clamp(x, low, high));
      ASSERT_EQ(int(p.c.at(i, j)), int(std::max(expected, float(std::numeric_limits<C>::min()))))
          << i << ", " << j;
    }
}

TYPED_TEST(GemmQuantized, EveryOpAndLayout) {
  using C = typename TestFixture::c;
  const Kokkos::View<float*, default_execution_space> scale("scale", 13), bias("bias", 9);
  Kokkos::deep_copy(scale, 0.5f);
  Kokkos::deep_copy(bias, -3.25f);
  const float low = -20, high = 25;
  expect_with_every_op_and_layout<typename TypeParam::a, typename TypeParam::b, C>(
      layer(scale, bias, low, high), [=](std::uint32_t sum, index_t, index_t, index_t) {
        const float x = std::rint(std::clamp(0.5f * float(i32(sum)) - 3.25f, low, high));
        return C(std::max(x, float(std::numeric_limits<C>::min())));
      });
}

// What has no place in C's eight bits, and what lies halfway between two integers.
TYPED_TEST(GemmQuantized, SpecialValues) {
  using C = typename TestFixture::c;
  using limits = std::numeric_limits<C>;
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float given[] = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN(), 1e9f, -1e9f, 2.5f,
                         3.5f,     -0.5f};
  const C expected[] = {limits::max(), limits::min(), 0, limits::max(), limits::min(), 2, 4, 0};
  typename TestFixture::product p(fresh_seed());
  std::vector<float> biases(p.n);
  for (index_t j = 0; j < p.n; ++j) biases[j] = given[j % 8];
  this->run_layer(p, std::vector<float>(p.m, 0.f), biases, -infinity, infinity);
  for (index_t i = 0; i < p.m; ++i)
    for (index_t j = 0; j < p.n; ++j) ASSERT_EQ(int(p.c.at(i, j)), int(expected[j % 8])) << i << ", " << j;
}

// beta = 0 does not read C; without products it is scaled and rounded alone; with beta = 1 it stays as it is.
TEST(GemmQuantizedUpdate, WithoutProducts) {
  const Kokkos::View<i8**, Kokkos::LayoutRight, default_execution_space> a("a", 20, 0), b("b", 0, 30);
  const Kokkos::View<i8**, Kokkos::LayoutRight, default_execution_space> c("c", 20, 30);
  const auto all = [&](int expected) {
    const auto hc = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
    for (index_t i = 0; i < 20; ++i)
      for (index_t j = 0; j < 30; ++j) ASSERT_EQ(int(hc(i, j)), expected) << i << ", " << j;
  };
  queue q;
  const auto scaled = [&](double beta) {
    Kokkos::deep_copy(c, i8(-75));
    gemm(q, 0.5, a, b, beta, c);
    q.wait();
  };
  scaled(1), all(-75);
  scaled(0.5), all(-38);  // -37.5, to the even one
  scaled(-2), all(127);
  scaled(0), all(0);
}

}  // namespace
}  // namespace keramos::test

// What composes, who reads C, what is refused; and compositions in kernels.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <keramos/gemm/epilogue.hpp>

#include "epilogue_call.hpp"
#include "gemm_case.hpp"

namespace {

using namespace keramos;
using test::call;
namespace ep = keramos::epilogue;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

// --- Who reads C, and in which order parts run --------------------------------------------------------------------

struct both {
  bool reads;
  KERAMOS_FUNCTION bool reads_c() const { return reads; }
  KERAMOS_FUNCTION float operator()(float acc, float c, index_t, index_t, index_t) const { return acc + c; }
  KERAMOS_FUNCTION float operator()(float acc, index_t, index_t, index_t) const { return acc; }
};
struct adds_c {
  KERAMOS_FUNCTION float operator()(float acc, float c, index_t, index_t, index_t) const { return acc + c; }
};
struct adds_position {
  KERAMOS_FUNCTION float operator()(float acc, index_t i, index_t j, index_t b) const {
    return acc + float(100 * b + 10 * i + j);
  }
};

TEST(Epilogue, ReadsCOnlyWhereItSaysSo) {
  EXPECT_TRUE(detail::reads_c<float>(adds_c{}));
  EXPECT_FALSE(detail::reads_c<float>(adds_position{}));
  EXPECT_FALSE(detail::reads_c<float>(both{false}));
  EXPECT_TRUE(detail::reads_c<float>(both{true}));
  EXPECT_FALSE(detail::reads_c<float>(ep::linear(1, 0) | ep::relu()));
  EXPECT_TRUE(detail::reads_c<float>(ep::linear(1, 2) | ep::relu()));
  EXPECT_TRUE(detail::reads_c<float>(ep::relu() | ep::linear(1, 2)));
  EXPECT_TRUE(detail::reads_c<float>(ep::linear(1, 0) | adds_c{}));
  EXPECT_FALSE(detail::reads_c<float>(ep::gelu() | ep::relu()));
  EXPECT_EQ(call(ep::linear(2, 0), 3.f, nan), 6);
  EXPECT_EQ(call(ep::linear(2, 0) | ep::relu(), 3.f, nan), 6);
  EXPECT_EQ(call(ep::relu() | ep::linear(2, 0), 3.f, nan), 6);
  EXPECT_EQ(call(both{false}, 3.f, nan), 3);
  EXPECT_EQ(call(ep::then(both{false}, ep::relu(), both{false}), 3.f, nan), 3);
  // One part reads C: another with beta = 0 still does not multiply it.
  EXPECT_EQ(call(ep::linear(2, 0) | both{true}, 3.f, inf), inf);
  EXPECT_TRUE(std::isnan(call(ep::linear(2, 1) | ep::relu(), 3.f, nan)));
}

TEST(Epilogue, PartsRunFromLeftToRight) {
  EXPECT_EQ(call(ep::linear(-1, 0) | ep::relu(), 3.f), 0);
  EXPECT_EQ(call(ep::relu() | ep::linear(-1, 0), 3.f), -3);
  EXPECT_EQ(call(ep::scale(2) | ep::linear(1, 10) | ep::scale(3), 1.f, 5.f), 156);
  EXPECT_EQ(call(ep::linear(1, 10) | adds_c{}, 1.f, 5.f), 56);
  EXPECT_EQ(call(ep::then(adds_c{}, adds_position{}, ep::scale(2)), 1.f, 5.f, 3, 4, 2), 480);
  EXPECT_EQ(call(ep::then(adds_position{}, adds_c{}), 1.f, 5.f, 3, 4, 2), 240);
  EXPECT_EQ(call(ep::scale(2) | (ep::scale(3) | adds_position{}), 1.f, 5.f, 3, 4, 2), 240);
}

// CUDA takes kernels' lambdas neither in a TEST, whose body is private, nor with `auto` among their arguments.
struct times_c {
  template <class T>
  KERAMOS_FUNCTION T operator()(T acc, T c, index_t, index_t, index_t) const {
    return acc * c;
  }
};
void expect_lambdas_are_epilogues() {
  const float shift = 4;
  const auto plain = KERAMOS_LAMBDA(float acc, index_t i, index_t, index_t) {
    return acc + shift * float(i);
  };
  EXPECT_EQ(call(plain, 1.f, nan, 2), 9);
  EXPECT_EQ(call(times_c(), 3.f, 5.f), 15);
  EXPECT_EQ(call(ep::scale(2) | plain | times_c(), 1.f, 5.f, 2), 50);
  EXPECT_EQ(call(ep::then(plain, times_c()), 1.f, 5.f, 2), 45);
}
TEST(Epilogue, LambdasAndTemplatesAreEpilogues) { expect_lambdas_are_epilogues(); }

struct four_with_c {
  float operator()(float acc, float, index_t, index_t) const { return acc; }
};
struct both_undecided {
  [[maybe_unused]] float operator()(float acc, float, index_t, index_t, index_t) const { return acc; }
  [[maybe_unused]] float operator()(float acc, index_t, index_t, index_t) const { return acc; }
};
TEST(Epilogue, TheConceptTellsMistakes) {
  static_assert(epilogue_for<both, float> && epilogue_for<adds_c, double>);
  static_assert(!epilogue_for<four_with_c, float>);
  static_assert(!epilogue_for<both_undecided, float>);
}

// --- Size, copies, and the device ----------------------------------------------------------------------------------

using memory = default_execution_space::memory_space;
template <class T>
using vector = Kokkos::View<T*, memory>;
template <class T>
using matrix = Kokkos::View<T**, Kokkos::LayoutRight, memory>;

template <class T>
auto layer(const vector<T>& bias, const matrix<T>& r) {
  return ep::linear(T(2), T(3)) | ep::bias_by_column(bias) | ep::gelu() | ep::residual(r, T(5));
}

TEST(Epilogue, BlocksAreSmallAndTriviallyCopyable) {
  using of_views = decltype(layer(vector<double>(), matrix<double>()));
  using widest = decltype(ep::linear(1., 1.) | ep::bias_by_column((const double*)nullptr, 2, 3) | ep::gelu() |
                          ep::residual(batched_matrix_view<double>(), 1.));
  static_assert(std::is_trivially_copyable_v<of_views> && std::is_trivially_copyable_v<widest>);
  static_assert(sizeof(of_views) <= 96 && sizeof(widest) <= 96);
  static_assert(sizeof(decltype(ep::bias_by_row(vector<float>()))) == sizeof(float*));
  static_assert(
      std::is_trivially_copyable_v<decltype(ep::clamp(0, 1) | ep::saturate<char>() | ep::scale(1))>);
  static_assert(detail::epilogue_reaches<default_execution_space, of_views>());
}

long double gelu_exact(long double x) { return x / 2 * std::erfc(-x / std::sqrt(2.L)); }

template <class T, class E>
struct apply_everywhere {
  matrix<T> acc, c;
  E e;
  KERAMOS_FUNCTION void operator()(index_t i, index_t j) const {
    c(i, j) = detail::apply_epilogue(e, acc(i, j), c(i, j), i, j, 0);
  }
};
template <class T>
void expect_on_device() {
  std::mt19937_64 rng(test::fresh_seed());
  std::uniform_real_distribution<double> random(-3, 3);
  const index_t m = 37, n = 53;
  vector<T> bias("bias", n);
  matrix<T> acc("acc", m, n), c("c", m, n), r("r", m, n);
  const auto fill = [&](const auto& v) {
    auto h = Kokkos::create_mirror_view(v);
    for (std::size_t i = 0; i < v.size(); ++i) h.data()[i] = T(random(rng));
    Kokkos::deep_copy(v, h);
    std::vector<T> copy(h.data(), h.data() + v.size());
    return copy;
  };
  const auto hb = fill(bias), ha = fill(acc), hc = fill(c), hr = fill(r);
  const auto e = layer(bias, r);
  queue q;
  q.parallel_for("epilogue", range{m, n}, apply_everywhere<T, decltype(e)>{acc, c, e});
  q.wait();
  auto got = Kokkos::create_mirror_view(c);
  Kokkos::deep_copy(got, c);
  for (index_t i = 0; i < m; ++i)
    for (index_t j = 0; j < n; ++j) {
      const index_t at = i * n + j;
      const long double x = 2.L * ha[at] + 3.L * hc[at] + hb[j], want = gelu_exact(x) + 5.L * hr[at];
      // gelu's slope is below 1.13; x has an error of 4 roundings of at most 18.
      ASSERT_LE(std::fabs(got(i, j) - want), 200 * std::numeric_limits<T>::epsilon()) << i << ", " << j;
    }
}
TEST(Epilogue, CompositionsRunInKernels) {
  expect_on_device<float>();
  expect_on_device<double>();
}

}  // namespace

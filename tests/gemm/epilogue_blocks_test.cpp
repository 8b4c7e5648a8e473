// The library's epilogues, called as kernels call them, against long double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

#include <keramos/backends/host/versions.hpp>
#include <keramos/gemm/epilogue.hpp>

#include "epilogue_call.hpp"
#include "gemm_case.hpp"

namespace {

using namespace keramos;
using test::call;
namespace ep = keramos::epilogue;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

template <class T>
class EpilogueOf : public testing::Test {
 protected:
  T random() { return T(std::uniform_real_distribution<double>(-100, 100)(rng_)); }
  // Exact for integers; else `roundings` of the largest value that occurred.
  void expect_near(T got, long double expected, long double scale, int roundings = 3) {
    if constexpr (std::is_integral_v<T>)
      EXPECT_EQ(got, T(expected));
    else
      EXPECT_LE(std::fabs(got - expected), roundings * scale * std::numeric_limits<T>::epsilon() / 2);
  }
  std::mt19937_64 rng_{test::fresh_seed()};
};
using types = testing::Types<float, double, std::int32_t>;
TYPED_TEST_SUITE(EpilogueOf, types);

TYPED_TEST(EpilogueOf, Linear) {
  using T = TypeParam;
  for (int r = 0; r < 1000; ++r) {
    const T alpha = this->random(), beta = this->random(), acc = this->random(), c = this->random();
    const auto p = (long double)(alpha)*acc, q = (long double)(beta)*c;
    this->expect_near(call(ep::linear(alpha, beta), acc, c), p + q, std::fabs(p) + std::fabs(q));
    this->expect_near(call(ep::linear(alpha, T(0)), acc, c), p, std::fabs(p));
  }
  EXPECT_EQ(call(ep::linear(2, 3), T(5), T(7)), T(31));
}

TYPED_TEST(EpilogueOf, BiasAndScaleOfVectors) {
  using T = TypeParam;
  Kokkos::View<T*, Kokkos::HostSpace> v("v", 20);
  Kokkos::View<T**, Kokkos::LayoutLeft, Kokkos::HostSpace> left("left", 3, 20);
  Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> right("right", 3, 20);
  for (int i = 0; i < 20; ++i) v(i) = this->random();
  for (int b = 0; b < 3; ++b)
    for (int i = 0; i < 20; ++i) left(b, i) = this->random(), right(b, i) = this->random();
  const auto row_of_left = Kokkos::subview(left, 1, Kokkos::ALL());
  const auto expect = [&](const auto& by_row, const auto& by_column, bool sum, const auto& entry) {
    const T acc = this->random();
    for (index_t b = 0; b < 3; ++b)
      for (index_t i = 0; i < 10; ++i) {
        const long double x = entry(b, i);
        const long double want = sum ? acc + x : acc * x;
        this->expect_near(call(by_row, acc, T(0), i, index_t(1) << 60, b), want, std::fabs(want));
        this->expect_near(call(by_column, acc, T(0), index_t(1) << 60, i, b), want, std::fabs(want));
      }
  };
  const auto of_v = [&](index_t, index_t i) { return v(i); };
  const auto of_left = [&](index_t b, index_t i) { return left(b, i); };
  const auto of_right = [&](index_t b, index_t i) { return right(b, i); };
  const auto of_row = [&](index_t, index_t i) { return left(1, i); };
  const auto even = [&](index_t, index_t i) { return v(2 * i); };
  expect(ep::bias_by_row(v), ep::bias_by_column(v), true, of_v);
  expect(ep::bias_by_row(left), ep::bias_by_column(left), true, of_left);
  expect(ep::bias_by_row(right), ep::bias_by_column(right), true, of_right);
  expect(ep::bias_by_row(row_of_left), ep::bias_by_column(row_of_left), true, of_row);
  expect(ep::bias_by_row(v.data()), ep::bias_by_column(v.data()), true, of_v);
  expect(ep::bias_by_row(v.data(), 2), ep::bias_by_column(v.data(), 2), true, even);
  expect(ep::bias_by_row(left.data(), 3, 1), ep::bias_by_column(left.data(), 3, 1), true, of_left);
  expect(ep::scale_by_row(v), ep::scale_by_column(v), false, of_v);
  expect(ep::scale_by_row(left), ep::scale_by_column(left), false, of_left);
  expect(ep::scale_by_row(v.data()), ep::scale_by_column(v.data()), false, of_v);
  expect(ep::scale_by_row(right.data(), 1, 20), ep::scale_by_column(right.data(), 1, 20), false, of_right);
}

TYPED_TEST(EpilogueOf, ScaleOfOneNumber) {
  using T = TypeParam;
  Kokkos::View<T, Kokkos::HostSpace> s("s");
  const auto by_view = ep::scale_by_tensor(s), by_pointer = by_view;
  s() = T(3);  // read when called
  EXPECT_EQ(call(ep::scale(3), T(-7)), T(-21));
  EXPECT_EQ(call(by_view, T(-7)), T(-21));
  EXPECT_EQ(call(by_pointer, T(5)), T(15));
  EXPECT_EQ(call(ep::scale_by_tensor(s.data()), T(5)), T(15));
}

TYPED_TEST(EpilogueOf, Residual) {
  using T = TypeParam;
  std::vector<T> data(2 * 5 * 7);
  for (T& x : data) x = this->random();
  const auto m = matrix_view<const T>::column_major(data.data(), 5, 7);
  const auto batch = batched_matrix_view<const T>::strided(m, 2, 35);
  const Kokkos::View<const T***, Kokkos::LayoutRight, Kokkos::HostSpace> right(data.data(), 2, 5, 7);
  const Kokkos::View<const T**, Kokkos::LayoutLeft, Kokkos::HostSpace> left(data.data(), 5, 7);
  for (index_t b = 0; b < 2; ++b)
    for (index_t i = 0; i < 5; ++i)
      for (index_t j = 0; j < 7; ++j) {
        const T acc = this->random(), x = data[i + 5 * j];
        const auto want = [&](T r, int f) { return acc + (long double)(f)*r; };
        this->expect_near(call(ep::residual(m), acc, T(0), i, j, b), want(x, 1), 400);
        this->expect_near(call(ep::residual(left, T(-3)), acc, T(0), i, j, b), want(x, -3), 400);
        this->expect_near(call(ep::residual(batch, 3), acc, T(0), i, j, b), want(batch[b](i, j), 3), 400);
        this->expect_near(call(ep::residual(right), acc, T(0), i, j, b), want(right(b, i, j), 1), 400);
      }
}

TYPED_TEST(EpilogueOf, ReluAndClamp) {
  using T = TypeParam;
  for (const int x : {-100, -1, 0, 1, 100}) {
    EXPECT_EQ(call(ep::relu(), T(x)), T(std::max(x, 0)));
    EXPECT_EQ(call(ep::clamp(-2, 3), T(x)), T(std::min(std::max(x, -2), 3)));
  }
  EXPECT_THROW(ep::clamp(3, 2), invalid_argument);
  EXPECT_THROW(ep::clamp(nan, 2.f), invalid_argument);
}

TEST(Epilogue, IntegersWrapAround) {
  constexpr std::int32_t big = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(call(ep::linear(2, 1), big, 5), 3);
  EXPECT_EQ(call(ep::scale(2), big), -2);
  EXPECT_EQ(call(ep::bias_by_row(&big), 1), std::numeric_limits<std::int32_t>::min());
}

TEST(Epilogue, ClampTakesBoundsOfAnyIntegers) {
  for (const std::int32_t x : {100, -100, 7}) {
    EXPECT_EQ(call(ep::clamp(0LL, 1LL << 40), x), std::max(x, 0));
    EXPECT_EQ(call(ep::clamp(-(1LL << 40), 5LL), x), std::min(x, 5));
    EXPECT_EQ(call(ep::clamp(0, 4000000000u), x), std::max(x, 0));
    EXPECT_EQ(call(ep::clamp(-1, 5u), x), std::clamp(x, -1, 5));
    EXPECT_EQ(call(ep::clamp(-1, std::numeric_limits<std::uint64_t>::max()), x), std::max(x, -1));
  }
  EXPECT_EQ(call(ep::clamp(-1, 300), std::uint8_t(200)), 200);
  EXPECT_THROW(ep::clamp(5u, -1), invalid_argument);
}

TEST(Epilogue, ReluAndClampOfSpecialValues) {
  EXPECT_TRUE(std::isnan(call(ep::relu(), nan)));
  EXPECT_TRUE(std::isnan(call(ep::clamp(0, 1), nan)));
  EXPECT_EQ(call(ep::relu(), inf), inf);
  EXPECT_EQ(call(ep::relu(), -inf), 0);
  EXPECT_TRUE(std::signbit(call(ep::relu(), -0.f)));
  EXPECT_EQ(call(ep::clamp(-1, 1), -inf), -1);
  EXPECT_EQ(call(ep::relu(), std::numeric_limits<float>::denorm_min()),
            std::numeric_limits<float>::denorm_min());
}

// Φ(x) of the three and, where the argument's rounding is amplified, by how much.
long double gelu_exact(long double x) {
  const long double z = -x / std::sqrt(2.L);
  const long double result = x / 2 * std::erfc(z);
  if (!(x < 0 && x > -120)) return result;
  // z² - x²/2, by whose exponential function z's rounding changes the result.
  const long double square = x * x / 2, rest = std::fma(x, x, -2 * square) / 2;
  return result * std::exp(std::fma(z, z, -square) - rest);
}
long double gelu_tanh_exponent(long double x) {
  return 2 * std::sqrt(2 / std::acos(-1.L)) * (x + 0.044715L * x * x * x);
}
long double gelu_tanh_exact(long double x) { return x / (1 + std::exp(-gelu_tanh_exponent(x))); }
long double silu_exact(long double x) { return x / (1 + std::exp(-x)); }

/// The activations of many numbers, as this file is compiled and as kernels call them.
template <class T, class Activation>
struct activated {
  static KERAMOS_FORCEINLINE_FUNCTION void run(const T* x, T* y, int n) {
    for (int i = 0; i < n; ++i) y[i] = Activation()(x[i], index_t(0), index_t(0), index_t(0));
  }
  static std::vector<T> of(const std::vector<T>& x, bool widest) {
    std::vector<T> y(x.size());
    const auto f = widest ? backend::host::versions<activated, const T*, T*, int>::run : run;
    f(x.data(), y.data(), int(x.size()));
    return y;
  }
};

/// `exact` within 4u(2 + s) of itself; below `least` it may be 0.
template <class Activation, class T>
void expect_activation(const char* name, const std::vector<T>& x, T least, long double (*exact)(long double),
                       long double (*s)(long double)) {
  constexpr long double u = std::numeric_limits<T>::epsilon() / 2;
  for (const bool widest : {false, true}) {
    const std::vector<T> got = activated<T, Activation>::of(x, widest);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const long double want = exact(x[i]);
      ASSERT_LE(std::fabs(got[i] - want), 4 * u * (2 + s(x[i])) * std::fabs(want) + least)
          << name << (widest ? ", widest vectors, of " : " of ") << x[i] << ": " << got[i] << ", not "
          << want;
    }
  }
}
template <class T>
void expect_activations() {
  constexpr bool f32 = std::is_same_v<T, float>;
  constexpr T infinity = std::numeric_limits<T>::infinity(), most = std::numeric_limits<T>::max(),
              denormal = std::numeric_limits<T>::denorm_min(), normal = std::numeric_limits<T>::min();
  std::mt19937_64 rng(test::fresh_seed());
  std::uniform_real_distribution<double> exponent(-40, 20), any(f32 ? -149 : -1074, f32 ? 127 : 1023),
      small(-4, 4), near(-15, 15), wide(-120, 120), wider(-720, 720), last(-37.7, -37.5);
  std::vector<T> x;
  for (int r = 0; r < 200000; ++r) {
    const double size = std::exp2(exponent(rng)), size_of_any = std::exp2(any(rng));
    for (const double value :
         {size, -size, size_of_any, -size_of_any, small(rng), near(rng), wide(rng), wider(rng), last(rng)})
      x.push_back(T(value));
  }
  const auto negative = [](long double v) { return v < 0 ? 1.L : 0.L; };
  const auto square = [](long double v) { return v < 0 ? v * v : 0; };
  const auto cubic = [](long double v) { return v < 0 ? std::fabs(gelu_tanh_exponent(v)) : 0; };
  const auto none = [](long double) { return 0.L; };
  expect_activation<ep::gelu_block, T>("gelu", x, f32 ? T(2e-36) : normal, gelu_exact,
                                       f32 ? +square : +negative);
  expect_activation<ep::gelu_tanh_block, T>("gelu_tanh", x, f32 ? T(2e-36) : T(3e-305), gelu_tanh_exact,
                                            cubic);
  expect_activation<ep::silu_block, T>("silu", x, f32 ? T(2e-36) : T(3e-305), silu_exact, none);

  const auto all = [](T value, const auto& check) {
    for (const bool widest : {false, true}) {
      const std::vector<T> many(19, value);  // whole vectors and what is left
      for (const auto& of : {activated<T, ep::gelu_block>::of, activated<T, ep::gelu_tanh_block>::of,
                             activated<T, ep::silu_block>::of})
        for (const T y : of(many, widest)) check(y);
    }
  };
  all(std::numeric_limits<T>::quiet_NaN(), [](T y) { EXPECT_TRUE(std::isnan(y)); });
  all(infinity, [=](T y) { EXPECT_EQ(y, infinity); });
  all(most, [=](T y) { EXPECT_EQ(y, most); });
  all(-infinity, [](T y) { EXPECT_EQ(y, 0); });
  all(-most, [](T y) { EXPECT_EQ(y, 0); });
  all(T(-800), [](T y) { EXPECT_EQ(y, 0); });
  all(T(800), [](T y) { EXPECT_EQ(y, 800); });
  all(T(0), [](T y) { EXPECT_TRUE(y == 0 && !std::signbit(y)); });
  all(T(-0.0), [](T y) { EXPECT_TRUE(y == 0 && std::signbit(y)); });
  all(8 * denormal, [=](T y) { EXPECT_EQ(y, 4 * denormal); });
  all(-8 * denormal, [=](T y) { EXPECT_EQ(y, -4 * denormal); });
  all(-normal, [=](T y) { EXPECT_EQ(y, -normal / 2); });
}
TEST(Epilogue, ActivationsOfFloatsKeepTheirBound) { expect_activations<float>(); }
TEST(Epilogue, ActivationsOfDoublesKeepTheirBound) { expect_activations<double>(); }

// What those of floats are made of on devices, where no branch may be. These fuse a multiplication and an addition, and so keep
// 4u(2 + a²); hosts here may not.
TEST(Epilogue, NormalTailAndInverseOfFloatsOnDevices) {
  constexpr long double u = std::numeric_limits<float>::epsilon() / 2;
  std::mt19937_64 rng(test::fresh_seed());
  std::uniform_real_distribution<float> exponent(0, 99), one_to_two(1, 2), any(0, 13);
  for (int r = 0; r < 200000; ++r) {
    for (const float q : {std::exp2(exponent(rng)), one_to_two(rng)})
      ASSERT_LE(std::fabs(q * (long double)(ep::parts::inverse(q)) - 1), 4 * u) << "1/q of " << q;
    const float a = any(rng);
    const long double want = std::erfc(a / std::sqrt(2.L)) / 2;
    ASSERT_LE(std::fabs(ep::parts::device_normal_tail(a) - want), 5 * u * (2 + (long double)(a)*a) * want)
        << "normal tail of " << a;
  }
  EXPECT_EQ(ep::parts::device_normal_tail(1000.f), 0);
  EXPECT_EQ(ep::parts::device_normal_tail(0.f), 0.5f);
}

// Activations as GPUs compute them for a C of two bytes: 2^-12 of the result, rounded to f16 and bf16 at the end.
template <class Tail>
float for_two_bytes(float x) {
  return ep::parts::gated<Tail, ep::parts::precision::of_two_bytes>(x);
}
TEST(Epilogue, ActivationsForElementsOfTwoBytesAreWithinTheirBound) {
  struct of_tail {
    const char* name;
    float (*got)(float);
    long double (*exact)(long double);
  };
  const of_tail all[] = {{"gelu", for_two_bytes<ep::parts::gelu_tail>, gelu_exact},
                         {"gelu_tanh", for_two_bytes<ep::parts::gelu_tanh_tail>, gelu_tanh_exact},
                         {"silu", for_two_bytes<ep::parts::silu_tail>, silu_exact}};
  std::mt19937_64 rng(test::fresh_seed());
  std::uniform_real_distribution<float> exponent(-130, 127), small(-4, 4), wide(-120, 120);
  constexpr float most = std::numeric_limits<float>::max();
  // Smaller ones are 0 as elements of either type.
  constexpr long double least = 0x1p-134;
  for (const of_tail& f : all) {
    const auto expect = [&](float x) {
      const long double want = f.exact(x);
      ASSERT_LE(std::fabs(f.got(x) - want), 0x1p-12L * std::fabs(want) + least)
          << f.name << " of " << x << ": " << f.got(x) << ", not " << want;
    };
    for (int r = 0; r < 200000; ++r) {
      const float size = std::exp2(exponent(rng));
      for (const float x : {size, -size, small(rng), wide(rng)}) expect(x);
    }
    for (const float x : {0.f, -14.f, 14.f, -104.f, 104.f, most, -most}) expect(x);
    EXPECT_TRUE(std::isnan(f.got(nan))) << f.name;
    EXPECT_EQ(f.got(inf), inf) << f.name;
    EXPECT_LE(std::fabs(f.got(-inf)), float(least)) << f.name;
    EXPECT_TRUE(std::signbit(f.got(-0.f)) && f.got(-0.f) == 0) << f.name;
  }
}

// Which form an epilogue has: that for two bytes wherever it stands in a composition, and a caller's own as it is.
TEST(Epilogue, OnlyElementsOfTwoBytesHaveTheirForm) {
  const auto gelu = ep::gelu();
  using exact = std::remove_const_t<decltype(gelu)>;
  using of_float = decltype(detail::for_elements<float>(gelu));
  using of_half = decltype(detail::for_elements<float16>(gelu));
  static_assert(std::is_same_v<of_float, exact> && !std::is_same_v<of_half, exact>);
  static_assert(std::is_same_v<decltype(detail::for_elements<double>(gelu)), exact>);
  static_assert(std::is_same_v<decltype(detail::for_elements<bfloat16>(gelu)), of_half>);
  const auto chain = ep::linear(2.f, 3.f) | ep::gelu() | ep::relu();
  const auto of_chain = detail::for_elements<float16>(chain);
  static_assert(std::is_same_v<decltype(of_chain.first.second), of_half>);
  EXPECT_EQ(of_chain.first.first.alpha, 2.f);
  EXPECT_TRUE(of_chain.reads_c());
}

// What activations of doubles are made of, closer than their bounds would show.
TEST(Epilogue, ExponentialFunctionAndInverseOfDoubles) {
  constexpr long double u = std::numeric_limits<double>::epsilon() / 2;
  std::mt19937_64 rng(test::fresh_seed());
  std::uniform_real_distribution<double> reduced(-0.4, 0), all(-708, 0), exponent(0, 999);
  for (int r = 0; r < 200000; ++r) {
    for (const double y : {reduced(rng), all(rng)}) {
      const long double want = std::exp((long double)(y));
      ASSERT_LE(std::fabs(ep::parts::decay(y) - want), 3 * u * want) << "exp of " << y;
    }
    const double q = std::exp2(exponent(rng));
    ASSERT_LE(std::fabs(q * (long double)(ep::parts::inverse(q)) - 1), 3 * u) << "1/q of " << q;
  }
  EXPECT_EQ(ep::parts::decay(-0.), 1);
  EXPECT_EQ(ep::parts::decay(0.), 1);
  EXPECT_EQ(ep::parts::decay(-708.), 0);
  EXPECT_EQ(ep::parts::decay(-1e9), 0);
}

TEST(Epilogue, SaturateClampsAndRoundsToEven) {
  const auto byte = ep::saturate<std::int8_t>();
  const float in[] = {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 127.4f, 127.6f, 1e9f, -128.6f, -inf, inf, nan, 3.2f};
  const float out[] = {0, 2, 2, 0, -2, 127, 127, 127, -128, -128, 127, 0, 3};
  for (int i = 0; i < 13; ++i) EXPECT_EQ(call(byte, in[i]), out[i]) << in[i];
  EXPECT_EQ(call(ep::saturate<std::uint8_t>(), -3.f), 0);
  EXPECT_EQ(call(ep::saturate<std::uint8_t>(), 255.5f), 255);
  EXPECT_EQ(call(ep::saturate<std::int32_t>(), inf), 2147483520.f);  // the largest float below 2^31
  EXPECT_EQ(call(ep::saturate<std::int32_t>(), -inf), -2147483648.f);
  EXPECT_EQ(call(ep::saturate<std::int32_t>(), double(inf)), 2147483647.);
  EXPECT_EQ(call(ep::saturate<std::int64_t>(), double(inf)), 9223372036854774784.);
  EXPECT_EQ(call(ep::saturate<std::uint64_t>(), double(inf)), 18446744073709549568.);
  EXPECT_EQ(call(byte, std::int32_t(-1000)), -128);
  EXPECT_EQ(call(byte, std::int32_t(77)), 77);
  EXPECT_EQ(call(ep::saturate<std::uint8_t>(), std::int32_t(1000)), 255);
  EXPECT_EQ(call(ep::saturate<std::uint8_t>(), std::int32_t(-1)), 0);
  EXPECT_EQ(call(ep::saturate<std::int64_t>(), std::int32_t(-5)), -5);
  EXPECT_EQ(call(ep::saturate<float>(), 1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(call(ep::saturate<float>(), -double(inf)), std::numeric_limits<float>::lowest());
  EXPECT_EQ(call(ep::saturate<float>(), 0.1), double(0.1f));
  EXPECT_EQ(call(ep::saturate<double>(), inf), std::numeric_limits<float>::max());
  EXPECT_EQ(call(ep::saturate<float16>(), inf), 65504.f);
  EXPECT_EQ(call(ep::saturate<float16>(), -1e6), -65504.);
  EXPECT_EQ(call(ep::saturate<bfloat16>(), inf), 0x1.FEp127f);
  EXPECT_EQ(call(ep::saturate<float8_e4m3>(), 1e9f), 448.f);
  EXPECT_EQ(call(ep::saturate<float8_e5m2>(), -inf), -57344.f);
  EXPECT_EQ(call(ep::saturate<float8_e5m2>(), 0.3f), 0.3125f);
}

TEST(Epilogue, RoundToGoesThroughTheType) {
  EXPECT_EQ(call(ep::round_to<float>(), 0.1), double(0.1f));
  EXPECT_EQ(call(ep::round_to<float>(), 1e300), double(inf));
  EXPECT_EQ(call(ep::round_to<float16>(), 1e9f), inf);
  EXPECT_EQ(call(ep::round_to<float8_e5m2>(), inf), 57344.f);
  EXPECT_TRUE(std::isnan(call(ep::round_to<float>(), double(nan))));
}

}  // namespace

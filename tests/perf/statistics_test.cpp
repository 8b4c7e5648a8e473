#include "measure/core/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "measure/core/random.hpp"

namespace keramos::perf {
namespace {

TEST(Statistics, MedianMinAndQuartiles) {
  const auto odd = summarize({5, 1, 3, 2, 4});
  EXPECT_EQ(odd.count, 5);
  EXPECT_DOUBLE_EQ(odd.median, 3);
  EXPECT_DOUBLE_EQ(odd.min, 1);
  EXPECT_DOUBLE_EQ(odd.iqr, 2);
  const auto even = summarize({4, 1, 3, 2});  // quartiles 1.75 and 3.25
  EXPECT_DOUBLE_EQ(even.median, 2.5);
  EXPECT_DOUBLE_EQ(even.iqr, 1.5);
  const auto one = summarize({7});
  EXPECT_DOUBLE_EQ(one.median, 7);
  EXPECT_DOUBLE_EQ(one.iqr, 0);
  EXPECT_EQ(summarize({}).count, 0);
}

constexpr int drawn = 100000;

// Of so many values how many have a mantissa whose last bit is 1.
template <class T, class Draw>
int odd_mantissas(const Draw& draw) {
  constexpr int digits = std::numeric_limits<T>::digits;
  int odd = 0;
  for (int i = 0; i < drawn; ++i) {
    int exponent;
    odd += static_cast<long>(std::ldexp(std::frexp(draw(i), &exponent), digits)) & 1;
  }
  return odd;
}

template <class T>
void expect_uniform_with_full_mantissas() {
  const random_stream stream(42, 1);
  double sum = 0;
  for (int i = 0; i < drawn; ++i) {
    const T x = stream.value<T>(i);
    ASSERT_GE(x, T(-0.5));
    ASSERT_LT(x, T(0.5));
    sum += double(x);
  }
  EXPECT_NEAR(sum / drawn, 0, 0.005);
  const int odd = odd_mantissas<T>([&](int i) { return stream.value<T>(i); });
  EXPECT_NEAR(odd, drawn / 2, drawn / 50);  // the standard deviation is 158
}

TEST(Random, UniformWithFullMantissas) {
  expect_uniform_with_full_mantissas<float>();
  expect_uniform_with_full_mantissas<double>();
  const random_stream stream(42, 1);
  EXPECT_NE(stream.bits(0), random_stream(42, 2).bits(0));
  EXPECT_NE(stream.bits(0), random_stream(43, 1).bits(0));
}

// Multiples of 2^-53 below 1/2, and of 2^-24, are a bit short: the count above must see it.
TEST(Random, MantissasThatAreABitShortAreSeen) {
  const random_stream stream(42, 1);
  const auto short_f64 = [&](int i) { return std::ldexp(double(std::int64_t(stream.bits(i)) >> 11), -53); };
  const auto short_f32 = [&](int i) { return std::ldexp(float(std::int64_t(stream.bits(i)) >> 40), -24); };
  EXPECT_EQ(odd_mantissas<double>(short_f64), 0);
  EXPECT_EQ(odd_mantissas<float>(short_f32), 0);
}

TEST(Repetitions, FewerOnlyWhereTheyTakeTooLong) {
  EXPECT_EQ(repetitions_within(10, 0.02, 7), 7);
  EXPECT_EQ(repetitions_within(1, 0.2, 7), 5);
  EXPECT_EQ(repetitions_within(0, 0.2, 7), 3);
  EXPECT_EQ(repetitions_within(0, 0.2, 2), 2);
  EXPECT_EQ(repetitions_within(1e9, 0.02, 7), 7);  // more than an int holds would fit
}

}  // namespace
}  // namespace keramos::perf

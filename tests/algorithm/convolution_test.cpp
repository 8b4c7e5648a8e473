#include <cmath>
#include <limits>

#include "algorithm/test_data.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

template <class T>
T not_finite(std::mt19937_64& random) {
  using limits = std::numeric_limits<T>;
  const T value[] = {limits::quiet_NaN(), limits::infinity(), -limits::infinity()};
  return value[random() % 3];
}

template <class T>
void test_convolution(index_t batch, index_t n, index_t r, bool shared, convolution_mode mode, bool columns,
                      std::mt19937_64& random, bool special = false) {
  SCOPED_TRACE(testing::Message() << batch << " signals of " << n << ", " << r << " taps, mode " << int(mode)
                                  << (shared ? " shared" : "") << (columns ? " columns" : ""));
  const index_t length = convolution_length(n, r, mode), filters = shared ? 1 : batch;
  auto x = random_values<T>(batch * n, random), w = random_values<T>(filters * r, random);
  if constexpr (std::is_floating_point_v<T>)
    if (special)
      x[random() % x.size()] = not_finite<T>(random), w[random() % w.size()] = not_finite<T>(random);
  const auto poison = std::vector<T>(batch * length, T(77));
  const auto dx = to_device(x), dw = to_device(w), dy = to_device(poison);
  const auto view = [&](auto* data, index_t rows, index_t cols) {
    using M = matrix_view<std::remove_pointer_t<decltype(data)>>;
    return columns ? M::column_major(data, rows, cols) : M::row_major(data, rows, cols);
  };
  queue q;
  convolve(q, view(dx.data(), batch, n), view(dw.data(), filters, r), view(dy.data(), batch, length),
           {.mode = mode});
  q.wait();
  const auto y = to_host(dy);
  const auto at = [&](const std::vector<T>& v, index_t rows, index_t cols, index_t i, index_t j) {
    return v[columns ? j * rows + i : i * cols + j];
  };
  const index_t shift = mode == convolution_mode::full   ? 0
                        : mode == convolution_mode::same ? (r - 1) / 2
                                                         : r - 1;
  for (index_t b = 0; b < batch; ++b)
    for (index_t i = 0; i < length; ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        long double sum = 0, magnitude = 0;
        for (index_t j = 0; j < r; ++j) {
          const index_t s = i + shift - j;
          if (s < 0 || s >= n) continue;
          const long double p = (long double)(at(w, filters, r, shared ? 0 : b, j)) * at(x, batch, n, b, s);
          sum += p, magnitude += std::fabs(p);
        }
        const T got = at(y, batch, length, b, i);
        if (!std::isfinite(sum)) {
          ASSERT_EQ(std::isnan(got), std::isnan(sum)) << b << ' ' << i;
          if (!std::isnan(sum)) {
            ASSERT_EQ(got, T(sum)) << b << ' ' << i;
          }
          continue;
        }
        const long double bound = (r + 1) * std::numeric_limits<T>::epsilon() / 2 * magnitude;
        ASSERT_LE(std::fabs(got - sum), bound) << b << ' ' << i;
      } else {
        T sum = 0;
        for (index_t j = 0; j < r; ++j) {
          const index_t s = i + shift - j;
          if (0 <= s && s < n) sum += at(w, filters, r, shared ? 0 : b, j) * at(x, batch, n, b, s);
        }
        ASSERT_EQ(at(y, batch, length, b, i), sum) << b << ' ' << i;
      }
    }
}

// NaN and infinity reach the outputs that they belong to, and no other.
template <class T>
void test_special_values() {
  std::mt19937_64 random(fresh_seed());
  for (const auto mode : {convolution_mode::full, convolution_mode::same, convolution_mode::valid})
    for (int round = 0; round < 60; ++round) {
      const index_t n = 1 + index_t(random() % (round % 3 == 0 ? 2500 : 90)), r = 1 + index_t(random() % 140);
      test_convolution<T>(2, n, r, round % 2 == 0, mode, round % 5 == 0, random, true);
    }
}
TEST(Convolution, SpecialValuesFloat) { test_special_values<float>(); }
TEST(Convolution, SpecialValuesDouble) { test_special_values<double>(); }

template <class T>
void test_modes() {
  std::mt19937_64 random(fresh_seed());
  const std::pair<index_t, index_t> sizes[] = {{1, 1},     {5, 3},      {3, 5},  {300, 64},
                                               {2000, 65}, {1100, 150}, {129, 8}};
  for (const auto& [n, r] : sizes)
    for (const auto mode : {convolution_mode::full, convolution_mode::same, convolution_mode::valid})
      for (const bool shared : {false, true})
        for (const bool columns : {false, true}) test_convolution<T>(3, n, r, shared, mode, columns, random);
}
TEST(Convolution, Float) { test_modes<float>(); }
TEST(Convolution, Double) { test_modes<double>(); }
TEST(Convolution, IntegersWrapLikeTheirType) { test_modes<unsigned>(); }

TEST(Convolution, OfAnImpulseIsTheFilterReversed) {
  // y = w * e_2: the definition, so that correlation would fail.
  const auto x = to_device(std::vector<double>{0, 0, 1, 0});
  const auto w = to_device(std::vector<double>{1, 2, 3});
  device_view<double*> y("y", 6);
  queue q;
  convolve(q, matrix_view<const double>::row_major(x.data(), 1, 4),
           matrix_view<const double>::row_major(w.data(), 1, 3),
           matrix_view<double>::row_major(y.data(), 1, 6))
      .wait();
  EXPECT_EQ(to_host(y), (std::vector<double>{0, 0, 1, 2, 3, 0}));
}

TEST(Convolution, LengthsOfTheModes) {
  EXPECT_EQ(convolution_length(10, 3, convolution_mode::valid), 8);
  EXPECT_EQ(convolution_length(10, 3, convolution_mode::same), 10);
  EXPECT_EQ(convolution_length(10, 3, convolution_mode::full), 12);
  EXPECT_EQ(convolution_length(3, 3, convolution_mode::valid), 1);
  EXPECT_EQ(convolution_length(2, 3, convolution_mode::valid), 0);
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  device_view<float*> memory("m", 1000);
  float* const p = memory.data();
  queue q;
  const auto x = matrix_view<const float>::row_major(p, 4, 20);
  const auto w = matrix_view<const float>::row_major(p + 100, 4, 3);
  expect_words(refusal([&] { convolve(q, x, w, matrix_view<float>::row_major(p + 200, 4, 20)); }),
               {"keramos::convolve", "y is 4x20", "must be 4x22"});
  expect_words(refusal([&] {
                 convolve(q, x, matrix_view<const float>::row_major(p + 100, 2, 3),
                          matrix_view<float>::row_major(p + 200, 4, 22));
               }),
               {"w is 2x3", "must be 4x3"});
  expect_words(refusal([&] { convolve(q, x, w, matrix_view<float>::row_major(p + 60, 4, 22)); }),
               {"y (4x22) overlaps x"});
  expect_words(refusal([&] { convolve(q, x, w, matrix_view<float>::row_major(p + 105, 4, 22)); }),
               {"y (4x22) overlaps w"});
  EXPECT_THROW(convolve(q, x, w, matrix_view<float>{p + 200, 4, 22, 1, 1}), invalid_argument);
  EXPECT_THROW(convolve(q, x, matrix_view<const float>::row_major(nullptr, 4, 3),
                        matrix_view<float>::row_major(p + 200, 4, 22)),
               invalid_argument);
}

}  // namespace

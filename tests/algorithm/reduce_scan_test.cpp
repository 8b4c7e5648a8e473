#include <cmath>
#include <limits>
#include <numeric>

#include "algorithm/test_data.hpp"

namespace {

using namespace keramos;
using namespace keramos::test;

constexpr index_t lengths[] = {1, 2, 31, 255, 256, 257, 2047, 2048, 2049, 4096, 4097, 100'003, 1'500'001};

template <class T>
T fetch(const Kokkos::View<T, default_execution_space>& v) {
  T out;
  Kokkos::deep_copy(out, v);
  return out;
}

// --- reduce ------------------------------------------------------------------------------------

template <class In, class T>
void test_sum() {
  std::mt19937_64 random(fresh_seed());
  queue q;
  for (const index_t n : lengths)
    for (const index_t stride : {1, 3}) {
      const auto x = random_values<In>(n * stride, random);
      const auto dx = to_device(x);
      Kokkos::View<T, default_execution_space> result("result");
      reduce(q, grid_view<const In, 1>{dx.data(), {n}, {stride}}, result).wait();
      const T got = fetch(result);
      if constexpr (std::is_floating_point_v<T>) {
        long double sum = 0, magnitude = 0;
        for (index_t i = 0; i < n; ++i) sum += x[i * stride], magnitude += std::fabs(x[i * stride]);
        // A part of n / 1000 elements, say, summed one by one, and trees above it.
        const long double u = std::numeric_limits<T>::epsilon() / 2;
        EXPECT_LE(std::fabs(got - sum), (64 + n / 256) * u * magnitude) << n;
      } else {
        T sum = 0;
        for (index_t i = 0; i < n; ++i) sum += static_cast<T>(x[i * stride]);
        EXPECT_EQ(got, sum) << n;
      }
      reduce(q, grid_view<const In, 1>{dx.data(), {n}, {stride}}, result).wait();
      EXPECT_EQ(fetch(result), got) << "the same call must give the same bits";
    }
}
TEST(Reduce, SumsOfIntegersAreExact) { test_sum<unsigned, unsigned>(); }
TEST(Reduce, SumsOfFloats) { test_sum<float, float>(); }
TEST(Reduce, FloatsSummedAsDoubles) { test_sum<float, double>(); }
TEST(Reduce, SumsOfDoubles) { test_sum<double, double>(); }

/// gcd: associative and commutative, and the kernels are told no identity.
struct gcd {
  KERAMOS_INLINE_FUNCTION unsigned operator()(unsigned a, unsigned b) const {
    while (b != 0) {
      const unsigned r = a % b;
      a = b, b = r;
    }
    return a;
  }
};
TEST(Reduce, OwnOperatorWithoutIdentityNeedsAnInitialValue) {
  std::mt19937_64 random(fresh_seed());
  queue q;
  for (const index_t n : lengths) {
    auto x = random_values<unsigned>(n, random);
    for (auto& v : x) v = v % 1000 * 42 + 42;
    x[n / 2] = 42 * 1009;  // a prime over 1000: only this element and 42 are left
    Kokkos::View<unsigned, default_execution_space> result("result");
    reduce(q, to_device(x), result, gcd{}, 42u * 5).wait();
    unsigned expected = 42 * 5;
    for (const auto v : x) expected = std::gcd(expected, v);
    EXPECT_EQ(fetch(result), expected) << n;
  }
}

TEST(Reduce, MaximumMinimumInitAndEmpty) {
  std::mt19937_64 random(fresh_seed());
  const auto x = random_values<double>(12345, random);
  const auto dx = to_device(x);
  queue q;
  Kokkos::View<double, default_execution_space> result("result");
  reduce(q, dx, result, maximum{}).wait();
  EXPECT_EQ(fetch(result), *std::max_element(x.begin(), x.end()));
  reduce(q, dx, result, minimum{}).wait();
  EXPECT_EQ(fetch(result), *std::min_element(x.begin(), x.end()));
  reduce(q, dx, result, minimum{}, -3).wait();
  EXPECT_EQ(fetch(result), -3);
  reduce(q, device_view<double*>("none", 0), result, plus{}, 5).wait();
  EXPECT_EQ(fetch(result), 5);
  expect_words(refusal([&] {
                 reduce(q, grid_view<double, 1>{nullptr, {3}, {1}}, result);
               }),
               {"keramos::reduce", "x is 3", "null"});
  expect_words(refusal([&] { reduce(q, dx, static_cast<double*>(nullptr)); }),
               {"keramos::reduce", "result's memory is null"});
}

/// Whose identity keramos::multiplies does not know.
struct two_numbers {
  double x, y;
  friend KERAMOS_INLINE_FUNCTION two_numbers operator*(const two_numbers& p, const two_numbers& q) {
    return {p.x * q.x, p.y * q.y};
  }
};
static_assert(!has_known_identity<plus, two_numbers> && !has_known_identity<multiplies, two_numbers>);
static_assert(has_known_identity<plus, float16> && has_known_identity<multiplies, complex<double>> &&
              has_known_identity<plus, std::complex<float>>);
TEST(Reduce, ClassesOfTheCallers) {
  const auto x = to_device(std::vector<two_numbers>{{2, 3}, {4, 5}});
  Kokkos::View<two_numbers, default_execution_space> result("result");
  queue q;
  reduce(q, x, result, multiplies{}, two_numbers{1, 1}).wait();
  EXPECT_EQ(fetch(result).x, 8);
  EXPECT_EQ(fetch(result).y, 15);
  inclusive_scan(q, x, x, multiplies{}).wait();
  EXPECT_EQ(to_host(x)[0].y, 3);
  EXPECT_EQ(to_host(x)[1].y, 15);
}

// Wherever it is.
TEST(Reduce, NaNLosesAgainstEveryNumber) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  queue q;
  Kokkos::View<float, default_execution_space> result("result");
  for (const int place : {0, 1, 2, 3, 31, 32, 255, 256, 3000}) {
    std::vector<float> x(3001);
    for (int i = 0; i < int(x.size()); ++i) x[i] = float((i * 37) % 3001);
    x[place] = nan;
    std::vector<float> most(x.size());
    float largest = -std::numeric_limits<float>::infinity(), smallest = -largest;
    for (int i = 0; i < int(x.size()); ++i) {
      if (i != place) largest = std::max(largest, x[i]), smallest = std::min(smallest, x[i]);
      most[i] = largest;
    }
    const auto dx = to_device(x);
    reduce(q, dx, result, maximum{}).wait();
    EXPECT_EQ(fetch(result), largest) << place;
    reduce(q, dx, result, minimum{}).wait();
    EXPECT_EQ(fetch(result), smallest) << place;
    inclusive_scan(q, dx, dx, maximum{}).wait();
    EXPECT_TRUE(to_host(dx) == most) << place;
  }
}

// --- scans -------------------------------------------------------------------------------------

/// 2 x 2 matrices modulo 2^16: associative, not commutative, without an identity that is told.
struct mat {
  unsigned short a, b, c, d;
  friend bool operator==(const mat& x, const mat& y) {
    return x.a == y.a && x.b == y.b && x.c == y.c && x.d == y.d;
  }
};
struct mat_product {
  KERAMOS_INLINE_FUNCTION mat operator()(const mat& x, const mat& y) const {
    const auto dot = [](unsigned p, unsigned q, unsigned r, unsigned s) {
      return static_cast<unsigned short>(p * q + r * s);
    };
    return {dot(x.a, y.a, x.b, y.c), dot(x.a, y.b, x.b, y.d), dot(x.c, y.a, x.d, y.c),
            dot(x.c, y.b, x.d, y.d)};
  }
};
struct triple {
  std::int64_t x, y;
  int z;
  friend bool operator==(const triple& p, const triple& q) { return p.x == q.x && p.y == q.y && p.z == q.z; }
};
struct triple_sum {
  KERAMOS_INLINE_FUNCTION triple operator()(const triple& p, const triple& q) const {
    return {p.x + q.x, p.y + q.y, p.z > q.z ? p.z : q.z};
  }
};

template <class T, class Op>
void expect_scans(const std::vector<T>& x, const T& init, const Op& op) {
  const index_t n = index_t(x.size());
  queue q;
  const auto dx = to_device(x);
  device_view<T*> y(Kokkos::view_alloc(Kokkos::WithoutInitializing, "y"), n);
  std::vector<T> expected(n);

  inclusive_scan(q, dx, y, op).wait();
  T sum = x[0];
  for (index_t i = 0; i < n; ++i) expected[i] = sum = i == 0 ? x[0] : op(sum, x[i]);
  ASSERT_TRUE(to_host(y) == expected) << "inclusive " << n;

  exclusive_scan(q, dx, y, init, op).wait();
  sum = init;
  for (index_t i = 0; i < n; ++i) expected[i] = sum, sum = op(sum, x[i]);
  ASSERT_TRUE(to_host(y) == expected) << "exclusive " << n;

  exclusive_scan(q, dx, dx, init, op).wait();
  ASSERT_TRUE(to_host(dx) == expected) << "in place " << n;
}
TEST(Scan, SumsOfIntegers) {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : lengths) expect_scans(random_values<unsigned>(n, random), 7u, plus{});
}
// So long that each group of a large device has many tiles.
TEST(Scan, LongArrays) {
  std::mt19937_64 random(fresh_seed());
  expect_scans(random_values<unsigned>(7'000'003, random), 7u, plus{});
  expect_scans(random_values<std::uint64_t>(3'999'999, random), std::uint64_t(1) << 40, plus{});
}
TEST(Scan, SumsOfWideIntegers) {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : lengths)
    expect_scans(random_values<std::uint64_t>(n, random), std::uint64_t(1) << 40, plus{});
}
TEST(Scan, MaximumOfDoubles) {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : lengths) expect_scans(random_values<double>(n, random), -0.5, maximum{});
}
TEST(Scan, OperatorThatDoesNotCommute) {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : lengths) {
    std::vector<mat> x(n);
    for (auto& m : x) {
      const auto bits = random();
      m = {(unsigned short)(bits | 1), (unsigned short)(bits >> 16), 0, (unsigned short)(bits >> 48 | 1)};
    }
    expect_scans(x, mat{1, 2, 3, 4}, mat_product{});
  }
}
TEST(Scan, TypesOfManyWords) {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : lengths) {
    std::vector<triple> x(n);
    for (auto& t : x) t = {std::int64_t(random() >> 30), -std::int64_t(random() >> 30), int(random() >> 40)};
    expect_scans(x, triple{1, 2, 3}, triple_sum{});
  }
}

/// As many bytes as local memory has room for few of.
template <int Words>
struct many_words {
  int value[Words];
  friend bool operator==(const many_words& x, const many_words& y) {
    return std::equal(x.value, x.value + Words, y.value);
  }
};
struct sum_of_words {
  template <int Words>
  KERAMOS_INLINE_FUNCTION many_words<Words> operator()(many_words<Words> x,
                                                       const many_words<Words>& y) const {
    for (int w = 0; w < Words; ++w) x.value[w] += y.value[w];
    return x;
  }
};
template <int Words>
void test_words() {
  std::mt19937_64 random(fresh_seed());
  for (const index_t n : {1, 63, 64, 65, 1000}) {
    std::vector<many_words<Words>> x(n);
    for (auto& v : x)
      for (int& w : v.value) w = int(random() % 1000);
    expect_scans(x, x[0], sum_of_words{});
  }
}
TEST(Scan, ElementsOfManyBytes) {
  test_words<8>();
  test_words<12>();
  test_words<13>();
  test_words<32>();
  test_words<64>();
}

TEST(Scan, SumsOfFloatsKeepTheirBound) {
  std::mt19937_64 random(fresh_seed());
  const index_t n = 300'000;
  const auto x = random_values<float>(n, random);
  device_view<float*> y("y", n);
  queue q;
  inclusive_scan(q, to_device(x), y).wait();
  const auto got = to_host(y);
  double sum = 0, magnitude = 0;
  for (index_t i = 0; i < n; ++i) {
    sum += x[i], magnitude += std::fabs(x[i]);
    ASSERT_LE(std::fabs(got[i] - sum), 400 * 0x1p-24 * magnitude) << i;
  }
}

TEST(Scan, StridesAndWiderSums) {
  std::mt19937_64 random(fresh_seed());
  const index_t n = 10'000;
  auto x = random_values<int>(3 * n, random);
  const auto dx = to_device(x);
  device_view<std::int64_t*> y("y", 2 * n);
  queue q;
  exclusive_scan(q, grid_view<const int, 1>{dx.data(), {n}, {3}},
                 grid_view<std::int64_t, 1>{y.data(), {n}, {2}}, std::int64_t(5))
      .wait();
  const auto got = to_host(y);
  std::int64_t sum = 5;
  for (index_t i = 0; i < n; ++i) {
    ASSERT_EQ(got[2 * i], sum) << i;
    ASSERT_EQ(got[2 * i + 1], 0);
    sum += x[3 * i];
  }
}

TEST(Scan, RefusesWhatItCannotDo) {
  device_view<int*> m("m", 100);
  queue q;
  const auto part = [&](index_t first, index_t n) { return grid_view<int, 1>{m.data() + first, {n}, {1}}; };
  expect_words(refusal([&] { inclusive_scan(q, part(0, 10), part(50, 9)); }),
               {"keramos::inclusive_scan", "y is 9", "must be 10"});
  expect_words(refusal([&] { exclusive_scan(q, part(0, 10), part(5, 10), 0); }),
               {"keramos::exclusive_scan", "y (10) overlaps x"});
  expect_words(refusal([&] {
                 inclusive_scan(q, part(0, 10), grid_view<int, 1>{m.data(), {10}, {2}});
               }),
               {"y (10) overlaps x"});
  expect_words(refusal([&] {
                 inclusive_scan(
                     q, part(0, 10),
                     grid_view<std::int64_t, 1>{reinterpret_cast<std::int64_t*>(m.data()), {10}, {1}});
               }),
               {"y (10) overlaps x"});
  EXPECT_THROW(inclusive_scan(q, part(0, 10), grid_view<int, 1>{m.data() + 20, {10}, {0}}), invalid_argument);
  inclusive_scan(q, part(0, 0), part(0, 0)).wait();
  inclusive_scan(q, grid_view<int, 1>{m.data(), {1}, {5}}, part(0, 1)).wait();  // in place
}

}  // namespace

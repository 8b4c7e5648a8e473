// Products by way of integers of eight bits, with plain loops in place of tensor cores: exponents, accuracy, remainders and
// back, on the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include <keramos/core/queue.hpp>
#include <keramos/gemm/kernel/residues/multiply.hpp>

#include "gemm_case.hpp"

namespace keramos::test {
namespace {

namespace residues = detail::residues;
using host = Kokkos::DefaultHostExecutionSpace;

TEST(GemmModuli, RemaindersAreThoseOfWholeNumbers) {
  std::mt19937_64 rng(fresh_seed());
  for (int i = 0; i < 2000; ++i) {
    const int bits = 1 + int(rng() % residues::most_bits);
    std::int64_t x = std::int64_t(rng() >> (63 - bits)) - (std::int64_t(1) << bits);
    if (i < 4) x = (i % 2 ? -1 : 1) * (std::int64_t(1) << residues::most_bits) * (i / 2);
    residues::for_each_modulus([&](auto number) {
      const int m = residues::moduli[number.value];
      const auto r = std::int64_t(residues::remainder<number.value>(residues::limbs::of(x)));
      EXPECT_EQ((x - r) % m, 0) << x << " modulo " << m;
      EXPECT_TRUE(0 <= r && r < m);
      const auto small = std::int32_t(x >> 34);
      EXPECT_EQ((small - std::int64_t(residues::remainder<number.value>(small))) % m, 0)
          << small << " modulo " << m;
    });
    const auto sum = i < 2 ? 0xffffffffu * std::uint32_t(i) : std::uint32_t(rng());
    for (const int m : residues::moduli)
      EXPECT_EQ(residues::remainder_of_sum(sum, std::uint32_t(m), residues::magic_of(m)),
                sum % std::uint32_t(m));
  }
}

template <class T>
struct sample_product {
  using types = typename detail::emulation<detail::types_of<T>>::type;

  index_t m, n, k;
  std::vector<T> a, b, c;
  bool a_along_k = true, b_along_k = false, c_by_columns = false;
  residues::choice choice{};
  bool done_otherwise = false;

  sample_product(index_t m, index_t n, index_t k, const std::function<T()>& draw)
      : m(m), n(n), k(k), a(m * k), b(n * k), c(m * n, std::numeric_limits<T>::quiet_NaN()) {
    for (T& x : a) x = draw();
    for (T& x : b) x = draw();
  }
  T a_at(index_t i, index_t p) const { return a[a_along_k ? i * k + p : p * m + i]; }
  T b_at(index_t p, index_t j) const { return b[b_along_k ? j * k + p : p * n + j]; }
  T& c_at(index_t i, index_t j) { return c[c_by_columns ? j * m + i : i * n + j]; }

  /// With `fewer_bits` than the product needs.
  void run(T alpha, T beta, index_t band_m, index_t band_n, int fewer_bits = 0) {
    basic_queue<host> q;
    const host& exec = q.execution_space();
    const gemm_problem<types> p{{a.data(), a_along_k ? k : 1, a_along_k ? 1 : m},
                                {b.data(), b_along_k ? k : 1, b_along_k ? 1 : n},
                                c.data(),
                                c_by_columns ? 1 : n,
                                c_by_columns ? m : 1,
                                m,
                                n,
                                k};
    gemm_part part;
    part.band_m = band_m, part.band_n = band_n;
    const residues::memory_map<types> map(p, part);
    std::vector<char> memory(map.bytes() + 128);
    char* const at = memory.data() + (128 - reinterpret_cast<std::uintptr_t>(memory.data()) % 128);
    residues::choose_moduli(exec, p, map, at);
    q.wait();
    *map.need(at) -= fewer_bits;
    residues::make_choice(exec, p, map, at);
    residues::multiply_chosen(
        exec, p, part, detail::library_epilogue<types>{alpha, beta}, map, at,
        [&](const gemm_problem<keramos::types::i8>& diagonal, const residues::product_layout& where,
            const residues::choice* chosen) {
          q.wait();
          choice = *chosen;
          for (int l = 0; l < chosen->count; ++l) multiply_remainders(diagonal, where, *chosen, l);
        },
        [&](const gemm_problem<types>&, const residues::choice* chosen) {
          done_otherwise = chosen->count == 0;
        });
    q.wait();
  }

  /// op(A)·op(B) and what a sum of products in T, one after the other, makes of it.
  struct sums {
    long double exact;
    T in_order;
  };
  sums sum_of(index_t i, index_t j) const {
    sums s{};
    for (index_t p = 0; p < k; ++p) {
      s.exact += static_cast<long double>(a_at(i, p)) * b_at(p, j);
      s.in_order = std::fma(a_at(i, p), b_at(p, j), s.in_order);
    }
    return s;
  }

  static void multiply_remainders(const gemm_problem<keramos::types::i8>& p,
                                  const residues::product_layout& at, const residues::choice& choice, int l) {
    const tiling::lines<integer8> of_a{p.m}, of_b{p.n};
    for (index_t i = l * at.a_rows; i < (l + 1) * at.a_rows; ++i)
      for (index_t j = l * at.b_rows; j < (l + 1) * at.b_rows; ++j) {
        std::uint32_t sum = 0;
        for (index_t q = 0; q < p.k; ++q)
          sum += std::uint32_t(p.a.template number<std::int32_t>(p.a.data[of_a.offset(i, q)]) *
                               p.b.template number<std::int32_t>(p.b.data[of_b.offset(j, q)]));
        const residues::remainder_epilogue epilogue{choice.modulus[l], choice.magic[l]};
        p.c[i * p.c_row_stride + j * p.c_col_stride] = static_cast<integer8>(epilogue(sum, i, j, 0));
      }
  }
};

template <class T>
class GemmResidues : public testing::Test {};
using floats = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmResidues, floats);

// Whole numbers: what is computed has no error at all. Bands, edges, layouts, alpha and beta.
TYPED_TEST(GemmResidues, WholeNumbersAreExact) {
  using T = TypeParam;
  std::mt19937_64 rng(fresh_seed());
  const index_t sizes[][3] = {{1, 1, 1}, {3, 5, 7}, {17, 33, 129}, {40, 20, 300}, {64, 48, 128}};
  for (const auto& size : sizes)
    for (int layout = 0; layout < 8; ++layout) {
      sample_product<T> x(size[0], size[1], size[2], [&] { return T(int(rng() % 63) - 31); });
      x.a_along_k = layout & 1, x.b_along_k = layout & 2, x.c_by_columns = layout & 4;
      for (T& c : x.c) c = T(int(rng() % 100));
      const auto before = x.c;
      const index_t band_m = 1 + index_t(rng() % std::size_t(x.m)),
                    band_n = 1 + index_t(rng() % std::size_t(x.n));
      x.run(2, -1, band_m, band_n);
      ASSERT_FALSE(x.done_otherwise);
      auto y = x;
      y.c = before;
      for (index_t i = 0; i < x.m; ++i)
        for (index_t j = 0; j < x.n; ++j)
          ASSERT_EQ(x.c_at(i, j), T(2 * x.sum_of(i, j).exact) - y.c_at(i, j))
              << i << ", " << j << " of " << x.m << " x " << x.n;
    }
}

/// Mean and largest error over C, of what was computed and of sums in order.
template <class T>
struct errors {
  double mean = 0, largest = 0, mean_in_order = 0, largest_in_order = 0;

  explicit errors(sample_product<T>& x) {
    for (index_t i = 0; i < x.m; ++i)
      for (index_t j = 0; j < x.n; ++j) {
        const auto sums = x.sum_of(i, j);
        const auto error = double(std::fabs(x.c_at(i, j) - sums.exact)),
                   in_order = double(std::fabs(sums.in_order - sums.exact));
        mean += error, largest = std::max(largest, error);
        mean_in_order += in_order, largest_in_order = std::max(largest_in_order, in_order);
      }
  }
};

// Errors are no larger than those of sums in T, whatever the data; or the device finds that the moduli do not suffice. With
// bits for one modulus less they are larger: so a modulus that is missing would be seen.
TYPED_TEST(GemmResidues, AreNoLessAccurateThanSumsInOrder) {
  using T = TypeParam;
  std::mt19937_64 rng(fresh_seed());
  std::uniform_real_distribution<double> uniform(-1, 1), positive(0, 1);
  std::normal_distribution<double> normal;
  const std::function<T()> kinds[] = {
      [&] { return T(uniform(rng)); },
      [&] { return T(positive(rng)); },
      [&] { return T(normal(rng)); },
      [&] { return T(std::exp(normal(rng)) * (rng() % 2 ? 1 : -1)); },      // exponents that differ
      [&] { return T(std::exp(4 * normal(rng)) * (rng() % 2 ? 1 : -1)); },  // widely
      [&] { return T(std::ldexp(uniform(rng), int(rng() % 3) - 60)); }};
  for (const auto& random : kinds)
    for (const index_t k : {8, 40, 700}) {
      const long kind = &random - kinds;
      sample_product<T> x(24, 33, k, random);
      x.run(1, 0, 24, 33);
      if (x.done_otherwise) {
        EXPECT_TRUE(kind == 3 || kind == 4) << "kind " << kind << ", k = " << k;
        continue;
      }
      const errors<T> e(x);
      EXPECT_LE(e.mean, e.mean_in_order) << "kind " << kind << ", k = " << k;
      EXPECT_LE(e.largest, e.largest_in_order) << "kind " << kind << ", k = " << k;
      if (kind == 3 || kind == 4) continue;  // where sums' own rounding is most of the errors
      const int count = x.choice.count;
      x.run(1, 0, 24, 33, 12);
      EXPECT_LT(x.choice.count, count);
      EXPECT_GT(errors<T>(x).mean, 4 * e.mean) << "kind " << kind << ", k = " << k;
    }
}

// The second half of each sum takes back the first, all but a millionth: what is left is far smaller than what was added.
TYPED_TEST(GemmResidues, AreNoLessAccurateWhereSumsCancel) {
  using T = TypeParam;
  std::mt19937_64 rng(fresh_seed());
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (const index_t k : {40, 700}) {
    sample_product<T> x(24, 33, k, [&] { return T(uniform(rng)); });
    for (index_t i = 0; i < x.m; ++i)
      for (index_t p = 0; p < k / 2; ++p) x.a[i * k + k / 2 + p] = x.a[i * k + p];
    for (index_t p = 0; p < k / 2; ++p)
      for (index_t j = 0; j < x.n; ++j)
        x.b[(k / 2 + p) * x.n + j] = T(-x.b[p * x.n + j] * (1 + 1e-6 * uniform(rng)));
    x.run(1, 0, 24, 33);
    ASSERT_FALSE(x.done_otherwise) << "k = " << k;
    const errors<T> e(x);
    EXPECT_LE(e.mean, e.mean_in_order) << "k = " << k;
    EXPECT_LE(e.largest, e.largest_in_order) << "k = " << k;
    x.run(1, 0, 24, 33, 12);
    EXPECT_GT(errors<T>(x).mean, 4 * e.mean) << "k = " << k;
  }
}

TYPED_TEST(GemmResidues, ZerosAndNumbersThatAreNotFinite) {
  using T = TypeParam;
  std::mt19937_64 rng(fresh_seed());
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto draw = [&] { return T(uniform(rng)); };
  sample_product<T> zeros(20, 18, 30, draw);
  for (index_t p = 0; p < 30; ++p) zeros.a[5 * 30 + p] = 0, zeros.b[p * 18 + 7] = 0;
  zeros.run(1, 0, 20, 18);
  ASSERT_FALSE(zeros.done_otherwise);
  for (index_t i = 0; i < 18; ++i) EXPECT_EQ(zeros.c_at(5, i), 0);
  for (index_t i = 0; i < 20; ++i) EXPECT_EQ(zeros.c_at(i, 7), 0);
  for (const T special : {std::numeric_limits<T>::infinity(), -std::numeric_limits<T>::infinity(),
                          std::numeric_limits<T>::quiet_NaN()}) {
    sample_product<T> x(20, 18, 300, draw), y(20, 18, 300, draw);
    x.a[rng() % x.a.size()] = special, y.b[rng() % y.b.size()] = special;
    x.run(1, 0, 20, 18), y.run(1, 0, 20, 18);
    EXPECT_TRUE(x.done_otherwise && y.done_otherwise) << special;
  }
}

}  // namespace
}  // namespace keramos::test

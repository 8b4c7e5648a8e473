// Products without packing, by the kernels of every instruction set; for Cᵀ their blocks are transposed.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <keramos/keramos.hpp>

#include <keramos/gemm/kernel/host_unpacked.hpp>
#include <keramos/gemm/plan/host_model.hpp>

#include "host_tables.hpp"

namespace {

using namespace keramos::test;
using keramos::detail::conjugate_if;

// C's last row ends with its storage, and so do A and B: a sanitizer sees a lane too many. A's rows run through memory, or its
// columns.
template <class T>
void test_unpacked(const kernel_table<T>& t, bool dots, int m, int n, int k, bool b_rows_run, T beta,
                   bool conjugate_a = false, bool conjugate_b = false) {
  std::mt19937 rng(m * 10007 + n * 101 + k);
  const std::int64_t ldb = b_rows_run ? n + 1 : k + 2, ldc = n + 3;
  std::vector<T> a(m * k), b(b_rows_run ? (k - 1) * ldb + n : (n - 1) * ldb + k), c((m - 1) * ldc + n);
  for (auto* v : {&a, &b, &c})
    for (T& x : *v) x = small_integer<T>(rng);
  const std::vector<T> before = c;
  const std::int64_t b_row = b_rows_run ? ldb : 1, b_col = b_rows_run ? 1 : ldb;
  const auto multiply = dots ? t.multiply_dots : t.multiply_unpacked;
  for (const bool a_rows_run : {true, false}) {
    if (dots && !a_rows_run) break;
    const std::int64_t a_row = a_rows_run ? k : 1, a_col = a_rows_run ? 1 : m;
    c = before;
    multiply({m, n, k, a.data(), a_row, a_col, b.data(), b_row, b_col, c.data(), ldc, 1, T(3), beta,
              conjugate_a, conjugate_b});
    for (std::size_t at = 0; at < c.size(); ++at) {
      const std::int64_t i = at / ldc, j = at % ldc;
      T expected = before[at];
      if (j < n) {
        T sum = 0;
        for (int p = 0; p < k; ++p)
          sum += conjugate_if(conjugate_a, a[i * a_row + p * a_col]) *
                 conjugate_if(conjugate_b, b[p * b_row + j * b_col]);
        expected = 3 * sum + beta * before[at];
      }
      ASSERT_EQ(c[at], expected) << t.isa << ' ' << m << 'x' << n << 'x' << k << " at " << i << ", " << j;
    }
  }
}

template <class T>
class HostUnpacked : public testing::Test {};
using types = testing::Types<float, double, std::uint32_t>;
TYPED_TEST_SUITE(HostUnpacked, types);

TYPED_TEST(HostUnpacked, IsExactOnSmallIntegers) {
  for (const auto* t : runnable<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (int m = 1; m <= 34; ++m)
      for (int n = 1; n <= 70; n += 1 + n / 20)
        for (bool b_rows_run : {true, false}) {
          test_unpacked<TypeParam>(*t, false, m, n, 1 + (m + n) % 20, b_rows_run, TypeParam(m % 2));
          // The length of A's rows decides about the shape of tiles.
          test_unpacked<TypeParam>(*t, false, m, n, (m + n) % 2 ? 65 : 130, b_rows_run, TypeParam(n % 2));
        }
    // In blocks: several of k, of columns and of rows, of which the last are narrower; rows in one tile and in several.
    const int shapes[][3] = {{2, 300, 700}, {5, 300, 700},  {20, 300, 700}, {7, 450, 660}, {7, 60, 2100},
                             {9, 9001, 10}, {900, 40, 100}, {50, 20, 700},  {70, 90, 900}};
    for (const auto& [m, n, k] : shapes)
      for (bool b_rows_run : {true, false})
        test_unpacked<TypeParam>(*t, false, m, n, k, b_rows_run, TypeParam(1));
  }
}

// A tile of a few vectors takes as long as one of eight.
TYPED_TEST(HostUnpacked, VectorsOfAStepAreThoseOfItsTiles) {
  for (const auto* t : runnable<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    EXPECT_EQ(t->vectors_of_step(1, 1, 100), 8);
    EXPECT_EQ(t->vectors_of_step(12, 1, 1000), 12);
    EXPECT_EQ(t->vectors_of_step(24, t->lanes, 1000), 24);
    for (int m = 1; m <= 40; ++m)
      for (int n = 1; n <= 6 * t->lanes; ++n)
        for (const int k : {10, 1000}) {
          const int vectors = m * ((n + t->lanes - 1) / t->lanes);
          ASSERT_GE(t->vectors_of_step(m, n, k), vectors);
          ASSERT_LE(t->vectors_of_step(m, n, k), 8 * vectors);
          if (vectors >= 24) {
            ASSERT_LE(t->vectors_of_step(m, n, k), 1.6 * vectors) << m << 'x' << n;
          }
        }
  }
}

template <class T>
class TransposedBlocks : public testing::Test {};
using elements_of_blocks =
    testing::Types<float, double, std::uint32_t, keramos::complex<float>, keramos::complex<double>>;
TYPED_TEST_SUITE(TransposedBlocks, elements_of_blocks);
TYPED_TEST(TransposedBlocks, AreExact) {
  for (const auto* t : runnable<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (const int rows : {1, 3, 8, 16, 33})
      for (const int cols : {1, 2, 7, 16, 31}) {
        const int stride = cols + 3, step = 48;
        std::vector<TypeParam> from((rows - 1) * stride + cols),
            to(cols * step);  // a sanitizer sees one too many
        for (std::size_t i = 0; i < from.size(); ++i) from[i] = TypeParam(int(i));
        t->transpose(to.data(), step, from.data(), stride, rows, cols);
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < cols; ++j) ASSERT_EQ(to[j * step + i], from[i * stride + j]) << i << ", " << j;
      }
  }
}

template <class T>
class HostUnpackedComplex : public testing::Test {};
using complex_types = testing::Types<keramos::complex<float>, keramos::complex<double>>;
TYPED_TEST_SUITE(HostUnpackedComplex, complex_types);

TYPED_TEST(HostUnpackedComplex, IsExactOnSmallIntegers) {
  using T = TypeParam;
  for (const auto* t : runnable<T>()) {
    SCOPED_TRACE(t->isa);
    for (const auto& [ca, cb] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}})
      for (bool b_rows_run : {true, false}) {
        for (int m = 1; m <= 20; ++m)
          for (int n = 1; n <= 40; n += 1 + n / 12)
            test_unpacked<T>(*t, false, m, n, 1 + (m + n) % 20, b_rows_run, T(m % 2, n % 2), ca, cb);
        const int blocks[][3] = {{5, 100, 700}, {14, 100, 700}, {4, 150, 265}, {9, 4501, 10}, {500, 20, 100}};
        for (const auto& [m, n, k] : blocks) test_unpacked<T>(*t, false, m, n, k, b_rows_run, T(1), ca, cb);
      }
  }
}

TYPED_TEST(HostUnpacked, DotProductsAreExactOnSmallIntegers) {
  for (const auto* t : runnable<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (int few = 1; few <= t->dots; ++few)
      for (int many = 1; many <= 20; ++many)
        for (int k : {1, 5, 16, 33, 5000})
          for (bool b_rows_run : {true, false}) {
            if (k > 1000 && many > 9) continue;
            if (!b_rows_run) test_unpacked<TypeParam>(*t, true, few, many, k, false, TypeParam(many % 2));
            test_unpacked<TypeParam>(*t, true, many, few, k, b_rows_run, TypeParam(many % 2));
          }
  }
}

// For however many threads, blocks of C and parts of k make up the whole product; few elements of C and a long k
// are divided along k.
TYPED_TEST(HostUnpacked, SharesMakeUpTheProduct) {
  using namespace keramos::detail::host;
  const struct {
    int m, n, k;
    bool divides_k;  // among 16 threads
  } shapes[] = {{4, 4, 10000, true}, {16, 16, 10000, true}, {2, 3, 1500, true},  {200, 7, 300, false},
                {5, 9, 511, false},  {64, 64, 600, false},  {300, 70, 40, false}};
  for (const auto* t : runnable<TypeParam>())
    for (const auto& s : shapes)
      for (const int threads : {1, 2, 3, 7, 16, 64})
        for (const int beta : {0, 2}) {
          const bool by_rows = (s.m + threads + beta / 2) % 2 == 0;  // else C's columns run through memory
          std::mt19937 rng(s.m * 10007 + s.n * 101 + s.k);
          std::vector<TypeParam> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n * 2);
          for (auto* v : {&a, &b, &c})
            for (TypeParam& x : *v) x = TypeParam(rng() % 5);
          const int down = by_rows ? 2 * s.n : 1, along = by_rows ? 1 : 2 * s.m;
          std::vector<TypeParam> expected = c;
          for (int i = 0; i < s.m; ++i)
            for (int j = 0; j < s.n; ++j) {
              TypeParam sum = 0;
              for (int q = 0; q < s.k; ++q) sum += a[i * s.k + q] * b[q * s.n + j];
              TypeParam& element = expected[i * down + j * along];
              element = 3 * sum + TypeParam(beta) * element;
            }
          const keramos::gemm_problem<types_of<TypeParam>> p{
              {a.data(), s.k, 1}, {b.data(), 1, s.n}, c.data(), down, along, s.m, s.n, s.k};
          using linear = keramos::detail::linear_epilogue<TypeParam>;
          unpacked_blocks<types_of<TypeParam>, linear> kernel{
              p, {3, TypeParam(beta)}, t->multiply_unpacked, share_out(t->nr, s.m, s.n, s.k, threads)};
          const int parts = kernel.shares.parts;
          std::vector<TypeParam> sums(std::size_t(parts) * s.m * s.n);
          kernel.sums = sums.data();
          for (int at = kernel.size() - 1; at >= 0; --at) kernel(at);
          if (parts > 1) kernel.add_up();
          ASSERT_LE(kernel.size(), threads);
          if (threads == 16) {
            EXPECT_EQ(parts > 1, s.divides_k) << s.m << 'x' << s.n << 'x' << s.k;
          }
          for (std::size_t at = 0; at < c.size(); ++at)
            ASSERT_EQ(c[at], expected[at]) << t->isa << ' ' << threads << " threads";
        }
}

// Sums of parts of k, of more rows than are transposed at once.
TYPED_TEST(HostUnpacked, PartsOfTallColumnsAreAddedUp) {
  using namespace keramos::detail::host;
  using linear = keramos::detail::linear_epilogue<TypeParam>;
  constexpr int m = 600, n = 5, k = 40, parts = 4;
  std::mt19937 rng(7);
  std::vector<TypeParam> a(m * k), b(k * n), c(m * n), sums(parts * m * n);
  for (auto* v : {&a, &b, &c})
    for (TypeParam& x : *v) x = small_integer<TypeParam>(rng);
  const std::vector<TypeParam> before = c;
  for (const auto* t : runnable<TypeParam>()) {
    c = before;
    const keramos::gemm_problem<types_of<TypeParam>> p{
        {a.data(), k, 1}, {b.data(), 1, n}, c.data(), 1, m, m, n, k};
    const unpacked_blocks<types_of<TypeParam>, linear> kernel{
        p, {3, 2}, t->multiply_unpacked, {{m, n, k / parts}, parts}, sums.data()};
    for (int at = 0; at < kernel.size(); ++at) kernel(at);
    kernel.add_up();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        TypeParam sum = 0;
        for (int q = 0; q < k; ++q) sum += a[i * k + q] * b[q * n + j];
        ASSERT_EQ(c[i + j * m], 3 * sum + 2 * before[i + j * m]) << t->isa << " at " << i << ", " << j;
      }
  }
}

}  // namespace

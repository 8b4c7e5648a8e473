// Every instruction set that the library was compiled for and that this processor has: dispatch would
// only ever show the widest.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <keramos/keramos.hpp>

#include <keramos/backends/host/tiles.hpp>
#include <keramos/gemm/collective/host_panels.hpp>
#include <keramos/gemm/host/kernels.hpp>
#include <keramos/gemm/plan/host_model.hpp>

#include "host_tables.hpp"

namespace {

using namespace keramos::test;
using keramos::detail::conjugate_if;

/// A table with the tiles of every instruction set, whatever this processor has; without kernels.
template <class T>
std::vector<kernel_table<T>> tiles() {
  std::vector<kernel_table<T>> list;
  for (const auto& row : keramos::backend::host::tile_table)
    if (row.element_bytes == sizeof(T)) {
      kernel_table<T> t{};
      t.mr = row.mr, t.nr = row.nr(), t.mc = row.mc, t.nc = row.nc, t.kc = row.kc, t.whole_k = row.whole_k,
      t.group = t.step = 1;
      list.push_back(t);
    }
  return list;
}

// Memory aligned as team scratch is.
template <class T>
struct aligned {
  explicit aligned(std::size_t n) : storage(n + 128 / sizeof(T) + 1) {}
  T* data() {
    auto p = reinterpret_cast<std::uintptr_t>(storage.data());
    return reinterpret_cast<T*>((p + 127) / 128 * 128);
  }
  std::vector<T> storage;
};

/// An element of an operand: of integers of eight bits any.
template <class E, class T>
E element(std::mt19937& rng) {
  if constexpr (std::is_same_v<E, keramos::integer8>) {
    return E(int(rng() % 256));
  } else if constexpr (std::is_same_v<E, keramos::float8>) {
    E x;  // the kinds have whole numbers of other bits, so: bits that are whole numbers, or halves of them, of both
    constexpr std::uint8_t some[] = {0x00, 0x80, 0x40, 0xc0, 0x48, 0x3c, 0xbc, 0x44};
    x.bits = some[rng() % 8];
    return x;
  } else {
    return E(small_integer<T>(rng));
  }
}

// Integers keep every sum exact, so all instruction sets must give the same.
template <class Types>
void test_table(const keramos::detail::host::kernel_table<Types>& t, int m, int n, int k, std::int64_t a_mn,
                std::int64_t a_k, std::int64_t b_mn, std::int64_t b_k, std::int64_t c_row, std::int64_t c_col,
                const keramos::tiling::reading<typename Types::a>& of_a = {},
                const keramos::tiling::reading<typename Types::b>& of_b = {}) {
  using T = typename Types::accumulator;
  using A = typename Types::a;
  using B = typename Types::b;
  std::mt19937 rng(m * 10007 + n * 101 + k);
  std::vector<A> a(m * a_mn + k * a_k + 1);
  std::vector<B> b(n * b_mn + k * b_k + 1);
  std::vector<T> c(m * c_row + n * c_col + 1);
  for (A& x : a) x = element<A, keramos::detail::factor_of<A, T>>(rng);
  for (B& x : b) x = element<B, T>(rng);
  for (T& x : c) x = small_integer<T>(rng);
  const std::vector<T> before = c;
  const int numbers = int(t.packed(k));
  const int panels_m = (m + t.mr - 1) / t.mr, panels_n = (n + t.nr - 1) / t.nr;
  aligned<T> a_packed(std::size_t(panels_m) * t.mr * numbers),
      b_packed(std::size_t(panels_n) * t.nr * numbers), acc(std::size_t(panels_m) * t.mr * panels_n * t.nr);
  t.pack_a(a_packed.data(), a.data(), a_mn, a_k, m, k, of_a.kind());
  t.pack_b(b_packed.data(), b.data(), b_mn, b_k, n, k, of_b.kind());
  const auto sum_of = [&](int i, int j) {
    T sum = 0;
    for (int p = 0; p < k; ++p)
      sum += conjugate_if(of_a.conjugated, of_a.template number<T>(a[i * a_mn + p * a_k])) *
             conjugate_if(of_b.conjugated, of_b.template number<T>(b[j * b_mn + p * b_k]));
    return sum;
  };
  // The same k-tile twice: once kept as sums, once added and written. And once alone, on top of that.
  using block = keramos::detail::host::block_product<T>;
  block first{acc.data(), a_packed.data(), b_packed.data(), m,           n,          numbers,
              true,       false,           c.data(),        c_row,       c_col,      T(3),
              T(2),       of_a.conjugated, of_b.conjugated, of_a.kind(), of_b.kind()};
  t.multiply(first);
  block last = first;
  last.first = false, last.last = true;
  t.multiply(last);
  block alone = first;
  alone.sums = nullptr, alone.last = true, alone.alpha = T(5), alone.beta = T(1);
  t.multiply(alone);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const std::size_t at = i * c_row + j * c_col;
      ASSERT_EQ(c[at], 3 * (2 * sum_of(i, j)) + 2 * before[at] + 5 * sum_of(i, j))
          << t.isa << ' ' << m << 'x' << n << 'x' << k << " at " << i << ", " << j;
    }
  // A writer of its own gets each sum once, of two k-tiles and of one; without a C.
  struct {
    int n, nr;
    std::vector<T> got;
  } writer{n, t.nr, std::vector<T>(m * n)};
  block with_writer = last;
  with_writer.c = nullptr, with_writer.writer = &writer;
  with_writer.write = [](const void* to, const T* sums, int row, int col, int rows, int cols) {
    auto& w = *static_cast<decltype(writer)*>(const_cast<void*>(to));
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j) w.got[(row + i) * w.n + col + j] += sums[i * w.nr + j];
  };
  first.last = false;
  t.multiply(first);
  t.multiply(with_writer);
  with_writer.first = true, with_writer.sums = nullptr;
  t.multiply(with_writer);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      ASSERT_EQ(writer.got[i * n + j], 3 * sum_of(i, j))
          << t.isa << ' ' << m << 'x' << n << 'x' << k << " at " << i << ", " << j;
}

template <class T>
class HostKernels : public testing::Test {};
using types = testing::Types<float, double, std::uint32_t>;
TYPED_TEST_SUITE(HostKernels, types);

TYPED_TEST(HostKernels, AreExactOnSmallIntegers) {
  for (const auto* t : runnable<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
      for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
        for (int k : {1, 15, 16, 37}) {
          test_table(*t, m, n, k, k, 1, 1, n, n, 1);              // row-major
          test_table(*t, m, n, k, 1, m, k, 1, 1, m);              // column-major
          test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2);  // no unit stride
        }
  }
}

template <class T>
class HostComplexKernels : public testing::Test {};
using complex_types = testing::Types<keramos::complex<float>, keramos::complex<double>>;
TYPED_TEST_SUITE(HostComplexKernels, complex_types);

TYPED_TEST(HostComplexKernels, AreExactOnSmallIntegers) {
  using T = TypeParam;
  for (const auto* t : runnable<T>()) {
    SCOPED_TRACE(t->isa);
    for (const auto& [ca, cb] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}})
      for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
        for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
          for (int k : {1, 15, 37}) {
            test_table(*t, m, n, k, k, 1, 1, n, n, 1, {ca}, {cb});              // row-major
            test_table(*t, m, n, k, 1, m, k, 1, 1, m, {ca}, {cb});              // column-major
            test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2, {ca}, {cb});  // no unit stride
          }
  }
}

template <class Types>
class HostRealComplexKernels : public testing::Test {};
using real_complex_types = testing::Types<keramos::types::f32xc32, keramos::types::f64xc64>;
TYPED_TEST_SUITE(HostRealComplexKernels, real_complex_types);

TYPED_TEST(HostRealComplexKernels, AreExactOnSmallIntegers) {
  for (const auto* t : runnable_of<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (const bool cb : {false, true})
      for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
        for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
          for (int k : {1, 15, 37}) {
            test_table(*t, m, n, k, k, 1, 1, n, n, 1, {}, {cb});              // row-major
            test_table(*t, m, n, k, 1, m, k, 1, 1, m, {}, {cb});              // column-major
            test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2, {}, {cb});  // no unit stride
          }
  }
}

// Elements of other types than that of their sums: packed as sums are, or in groups for instructions of several products.
template <class Types>
class HostHalfKernels : public testing::Test {};
using half_types =
    testing::Types<keramos::types::f16, keramos::types::f16_f32, keramos::types::bf16,
                   keramos::types::bf16_f32, keramos::types::f16xf32, keramos::types::bf16xf32>;
TYPED_TEST_SUITE(HostHalfKernels, half_types);

TYPED_TEST(HostHalfKernels, AreExactOnSmallIntegers) {
  for (const auto* t : runnable_of<TypeParam>()) {
    SCOPED_TRACE(t->isa);
    for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
      for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
        for (int k : {1, 2, 15, 16, 37, 200}) {
          test_table(*t, m, n, k, k, 1, 1, n, n, 1);              // row-major
          test_table(*t, m, n, k, 1, m, k, 1, 1, m);              // column-major
          test_table(*t, m, n, k, k + 1, 1, k + 1, 1, n, 1);      // both along k, rows at odd addresses
          test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2);  // no unit stride
        }
  }
}

// Integers of eight bits: as numbers of 32 bits, in pairs of 16 bits, or in fours with corrections, in any mix of signs.
TEST(HostByteKernels, AreExact) {
  for (const auto* t : runnable_of<keramos::types::i8_i32>())
    for (const auto& [sa, sb] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
      SCOPED_TRACE(std::string(t->isa) + (sa ? " signed A" : "") + (sb ? " signed B" : ""));
      for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
        for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
          for (int k : {1, 2, 3, 4, 15, 37, 500}) {
            test_table(*t, m, n, k, k, 1, 1, n, n, 1, {sa}, {sb});              // row-major
            test_table(*t, m, n, k, 1, m, k, 1, 1, m, {sa}, {sb});              // column-major
            test_table(*t, m, n, k, k + 1, 1, k + 1, 1, n, 1, {sa}, {sb});      // both along k
            test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2, {sa}, {sb});  // no unit stride
          }
    }
}

// Floats of eight bits, which are converted while they are packed, in any mix of kinds.
TEST(HostEightKernels, AreExact) {
  for (const auto* t : runnable_of<keramos::types::f8_f32>())
    for (const auto& [ka, kb] : {std::pair{false, false}, {false, true}, {true, false}, {true, true}}) {
      SCOPED_TRACE(std::string(t->isa) + (ka ? " e5m2 A" : "") + (kb ? " e5m2 B" : ""));
      for (int m : {1, t->mr - 1, t->mr, 2 * t->mr + 3})
        for (int n : {1, t->nr - 1, t->nr, 2 * t->nr + 5})
          for (int k : {1, 2, 15, 16, 37, 200}) {
            test_table(*t, m, n, k, k, 1, 1, n, n, 1, {ka}, {kb});              // row-major
            test_table(*t, m, n, k, 1, m, k, 1, 1, m, {ka}, {kb});              // column-major
            test_table(*t, m, n, k, k + 1, 1, k + 1, 1, n, 1, {ka}, {kb});      // both along k
            test_table(*t, m, n, k, 3 * k, 2, 2, 3 * n, 2 * n, 2, {ka}, {kb});  // no unit stride
          }
    }
}

// Packed by vectors or one after the other, every float of eight bits is the same number, and NaN is NaN.
TEST(HostEightKernels, EveryElementIsPackedAsItsNumber) {
  std::vector<keramos::float8> all(256);
  for (int i = 0; i < 256; ++i) all[i].bits = std::uint8_t(i);
  for (const auto* t : runnable_of<keramos::types::f8_f32>())
    for (const bool kind : {false, true}) {
      // A of 1 x 256 times the unit matrix, whose rows or columns run along k: the numbers themselves.
      const keramos::float8 one = [kind] {
        keramos::float8 x;
        x.bits = kind ? keramos::float8_e5m2(1).bits : keramos::float8_e4m3(1).bits;
        return x;
      }();
      const int n = 256;
      std::vector<keramos::float8> unit(n * n, keramos::float8(0));
      for (int i = 0; i < n; ++i) unit[i * n + i] = one;
      for (int i = 0; i < n; ++i) {
        const float x = keramos::detail::float_of_eight(std::uint8_t(i), kind);
        if (!std::isfinite(x)) all[i].bits = 0;  // times zero it would be NaN in all sums
      }
      const int numbers = int(t->packed(n)), panels = (n + t->nr - 1) / t->nr;
      aligned<float> a(std::size_t(t->mr) * numbers), b(std::size_t(panels) * t->nr * numbers),
          sums(std::size_t(panels) * t->mr * t->nr);
      t->pack_a(a.data(), all.data(), n, 1, 1, n, kind);
      t->pack_b(b.data(), unit.data(), 1, n, n, n, kind);
      std::vector<float> c(n);
      t->multiply({sums.data(), a.data(), b.data(), 1, n, numbers, true, true, c.data(), n, 1, 1.0f, 0.0f});
      for (int i = 0; i < n; ++i) {
        const float x = keramos::detail::float_of_eight(all[i].bits, kind);
        ASSERT_EQ(c[i], x) << t->isa << ' ' << i << ' ' << kind;
      }
    }
}

// Tiles are whole panels that fit the memory they are given; the more threads, the more there are.
TYPED_TEST(HostKernels, ChosenBlocksFit) {
  using namespace keramos::detail::host;
  for (const auto& t : tiles<TypeParam>())
    for (const int n : {100, 400, 512, 1000, 2048, 20000})
      for (const int threads : {1, 2, 16, 128}) {
        const block_choice choice = choose_block(t, n, n, n, threads);
        const auto& block = choice.block;
        SCOPED_TRACE(std::to_string(t.mr) + 'x' + std::to_string(t.nr) + " in " + to_string(block));
        EXPECT_EQ(block.m % t.mr, 0);
        EXPECT_EQ(block.n % t.nr, 0);
        EXPECT_LE(block.m, t.mc);
        EXPECT_LE(block.k, n <= t.whole_k ? n : t.kc);
        EXPECT_LE(block.m * block.k, t.mc * t.kc);
        if (choice.shares_b) {
          EXPECT_LE(std::size_t(block.m) * block.n * sizeof(TypeParam), model::most_sum_bytes(threads));
        } else {
          EXPECT_LE(block.n, t.nc);
        }
        const auto tiles = keramos::detail::ceil_div(n, block.m) * keramos::detail::ceil_div(n, block.n);
        if (n >= 512 && threads <= 16) {
          EXPECT_GE(tiles, threads == 1 ? 1 : 2 * threads);
        }
      }
}

TEST(HostKernelTable, BlocksFitHalfTheCache) {
  using namespace keramos::detail::host;
  const ::kernel_table<double> wide = *baseline::compiled_kernels<types_of<double>>();
  for (const std::size_t bytes : {1 << 30, 1 << 20, 1 << 19, 1 << 18, 1 << 17}) {
    const ::kernel_table<double> t = fitted(wide, bytes);
    EXPECT_LE(t.mc * t.kc * sizeof(double), bytes / 2);
    EXPECT_EQ(t.mc % t.mr, 0);
    // One more panel would not fit, or is more than was measured to pay.
    EXPECT_TRUE(t.mc == wide.mc || (t.mc + t.mr) * t.kc * sizeof(double) > bytes / 2);
  }
  EXPECT_EQ(fitted(wide, 0).mc, wide.mr);
}

}  // namespace

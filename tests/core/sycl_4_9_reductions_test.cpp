// SYCL 2020, 4.9.2 "Reduction variables", 4.17.2 "Function objects" and 4.15.3 "Atomic references".
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;
template <class T>
using device_scalar = Kokkos::View<T, default_execution_space>;

template <class V>
auto on_host(const V& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

KERAMOS_INLINE_FUNCTION std::int64_t value_of(index_t i) { return (i * 2654435761LL) % 1009 - 300; }

// --- 4.9.2 ---

template <class Property>
void sum_up(queue& q, index_t n, const device_scalar<std::int64_t>& out, Property property) {
  q.parallel_for(
      "sum", range{n}, reduction(out, keramos::plus{}, property),
      KERAMOS_LAMBDA(index_t i, reducer<std::int64_t, keramos::plus> & sum) { sum += value_of(i); });
}
void sum_on_top(queue& q, index_t n, const device_scalar<std::int64_t>& out) {
  q.parallel_for(
      "sum", range{n}, reduction(out, keramos::plus{}),
      KERAMOS_LAMBDA(index_t i, std::int64_t & sum) { sum += value_of(i); });
}
TEST(Sycl_4_9_2_Reduction, CombinesWithWhatWasThereUnlessTold) {
  queue q;
  device_scalar<std::int64_t> out("out");
  for (const index_t n : {0, 1, 31, 1000, 123457}) {
    std::int64_t sum = 0;
    for (index_t i = 0; i < n; ++i) sum += value_of(i);
    q.fill(out, std::int64_t(777));
    sum_up(q, n, out, initialize_to_identity);
    q.wait();
    EXPECT_EQ(on_host(out)(), sum) << n;
    sum_on_top(q, n, out);
    sum_on_top(q, n, out);
    q.wait();
    EXPECT_EQ(on_host(out)(), 3 * sum) << n;
  }
}

// Argmin: an operator and an identity of one's own, in two dimensions.
struct place {
  std::int64_t value, row, column;
};
struct smaller {
  KERAMOS_INLINE_FUNCTION place operator()(const place& a, const place& b) const {
    if (a.value != b.value) return a.value < b.value ? a : b;
    if (a.row != b.row) return a.row < b.row ? a : b;
    return a.column < b.column ? a : b;
  }
};
void smallest(queue& q, index_t rows, index_t columns, place* out) {
  q.parallel_for(
      "argmin", range{rows, columns}, reduction(out, {std::int64_t(1) << 60, 0, 0}, smaller{}),
      KERAMOS_LAMBDA(id<2> i, reducer<place, smaller> & p) {
        p.combine({value_of(i[0] * columns + i[1]), i[0], i[1]});
      });
}
TEST(Sycl_4_9_2_Reduction, OwnOperatorsAndTypesInTwoDimensions) {
  queue q;
  const index_t rows = 37, columns = 111;
  shared_array<place> out(1, q);
  out[0] = {std::int64_t(1) << 50, -1, -1};
  smallest(q, rows, columns, out.data());
  q.wait();
  place expected{std::int64_t(1) << 60, 0, 0};
  for (index_t i = 0; i < rows; ++i)
    for (index_t j = 0; j < columns; ++j) expected = smaller{}(expected, {value_of(i * columns + j), i, j});
  EXPECT_EQ(out[0].value, expected.value);
  EXPECT_EQ(out[0].row, expected.row);
  EXPECT_EQ(out[0].column, expected.column);
}

void sum_of_products(queue& q, const device_scalar<std::int64_t>& out) {
  q.parallel_for(
      "products", range{5, 7}, reduction(out, keramos::plus{}),
      KERAMOS_LAMBDA(index_t i, index_t j, std::int64_t & sum) { sum += (i + 1) * (j + 1); });
  q.parallel_for(
      "products", range{2, 3, 4}, reduction(out, keramos::plus{}),
      KERAMOS_LAMBDA(int i, int j, int k, reducer<std::int64_t, keramos::plus>& sum) {
        sum += 1000 * (i + 1) * (j + 1) * (k + 1);
      });
}
template <class... Property>
void add_ones(queue& q, index_t rows, index_t columns, std::int64_t* out, Property... property) {
  q.parallel_for(
      "ones", range{rows, columns}, reduction(out, keramos::plus{}, property...),
      KERAMOS_LAMBDA(index_t, index_t, std::int64_t & sum) { sum += 1; });
}
TEST(Sycl_4_9_2_Reduction, OverNothingIsTheIdentity) {
  queue q;
  shared_array<std::int64_t> out(1, q);
  for (const auto& [rows, columns] : {std::pair<index_t, index_t>(0, 5), {5, 0}, {0, 0}}) {
    out[0] = 7;
    add_ones(q, rows, columns, out.data());
    q.wait();
    EXPECT_EQ(out[0], 7);
    add_ones(q, rows, columns, out.data(), initialize_to_identity);
    q.wait();
    EXPECT_EQ(out[0], 0);
  }
}

TEST(Sycl_4_9_2_Reduction, KernelsTakeIndicesInPlaceOfAnId) {
  queue q;
  device_scalar<std::int64_t> out("out");
  sum_of_products(q, out);
  q.wait();
  EXPECT_EQ(on_host(out)(), 15 * 28 + 1000 * 3 * 6 * 10);
}

void several(queue& q, index_t n, std::int64_t* sum, double* most, std::uint32_t* bits) {
  q.parallel_for(
      "several", nd_range{range{n}, range{8}}, reduction(sum, keramos::plus{}), reduction(most, maximum{}),
      reduction(bits, bit_xor{}, initialize_to_identity),
      KERAMOS_LAMBDA(nd_item<1> it, std::int64_t & s, double& m, reducer<std::uint32_t, bit_xor>& b) {
        const index_t i = it.get_global_id(0);
        s += value_of(i);
        m = m < 0.5 * value_of(i) ? 0.5 * value_of(i) : m;
        b ^= std::uint32_t(i * 77 + it.get_local_id(0));
      });
}
TEST(Sycl_4_9_2_Reduction, SeveralAtOnceOverAnNdRange) {
  queue q;
  const index_t n = 8000;
  shared_array<std::int64_t> sum(1, q);
  shared_array<double> most(1, q);
  shared_array<std::uint32_t> bits(1, q);
  sum[0] = 5, most[0] = -1e30, bits[0] = 123;
  several(q, n, sum.data(), most.data(), bits.data());
  q.wait();
  std::int64_t s = 5, m = std::numeric_limits<std::int64_t>::lowest();
  std::uint32_t b = 0;
  for (index_t i = 0; i < n; ++i) {
    s += value_of(i);
    m = std::max(m, value_of(i));
    b ^= std::uint32_t(i * 77 + i % 8);
  }
  EXPECT_EQ(sum[0], s);
  EXPECT_EQ(most[0], 0.5 * m);
  EXPECT_EQ(bits[0], b);
}

void sum_of_floats(queue& q, index_t n, const device_scalar<float>& out) {
  q.parallel_for(
      "floats", range{n}, reduction(out, keramos::plus{}, initialize_to_identity),
      KERAMOS_LAMBDA(index_t i, float& s) { s += 1.0f / float(i + 1); });
}
void most_of_all(queue& q, index_t n, int* out) {
  q.parallel_for(
      "most", range{n}, reduction(out, 0, maximum{}, initialize_to_identity),
      KERAMOS_LAMBDA(index_t i, int& most) { most = most < int(i) ? int(i) : most; });
}
void by_operators(queue& q, unsigned* out) {
  q.parallel_for(
      "operators", range{8}, reduction(out, multiplies{}), reduction(out + 1, bit_and{}),
      reduction(out + 2, bit_or{}),
      KERAMOS_LAMBDA(index_t i, reducer<unsigned, multiplies> & product, reducer<unsigned, bit_and> & both,
                     reducer<unsigned, bit_or> & any) {
        product *= unsigned(i + 1);
        both &= ~(1u << i);
        any |= 1u << i;
      });
}
TEST(Sycl_4_9_2_Reduction, IdentitiesOfTheCallerReplaceWhatWasThere) {
  queue q;
  shared_array<int> out(1, q);
  out[0] = 1000;
  most_of_all(q, 10, out.data());
  q.wait();
  EXPECT_EQ(out[0], 9);
}
TEST(Sycl_4_9_2_Reduction, OperatorsOfReducers) {
  queue q;
  shared_array<unsigned> out(3, q);
  out[0] = 1, out[1] = ~0u, out[2] = 0;
  by_operators(q, out.data());
  q.wait();
  EXPECT_EQ(out[0], 40320u);
  EXPECT_EQ(out[1], ~0xffu);
  EXPECT_EQ(out[2], 0xffu);
}

TEST(Sycl_4_9_2_Reduction, OfAResultThatIsNowhereIsRefused) {
  const Kokkos::View<double, default_execution_space> unallocated;
  EXPECT_THROW((void)reduction(unallocated, plus{}), invalid_argument);
  EXPECT_THROW((void)reduction(static_cast<int*>(nullptr), 0, maximum{}, initialize_to_identity),
               invalid_argument);
}

TEST(Sycl_4_9_2_Reduction, GivesBitwiseTheSameAgain) {
  queue q;
  device_scalar<float> a("a"), b("b");
  sum_of_floats(q, 100003, a);
  sum_of_floats(q, 100003, b);
  q.wait();
  EXPECT_EQ(on_host(a)(), on_host(b)());
}

TEST(Sycl_4_17_2_FunctionObjects, IdentitiesLeaveValuesUnchanged) {
  EXPECT_EQ(minimum{}(7, minimum::identity<int>()), 7);
  EXPECT_EQ(minimum{}(1e308, minimum::identity<double>()), 1e308);
  EXPECT_EQ(maximum{}(-1e308, maximum::identity<double>()), -1e308);
  EXPECT_EQ(maximum{}(0u, maximum::identity<unsigned>()), 0u);
  EXPECT_EQ(bit_and{}(std::int8_t(-77), bit_and::identity<std::int8_t>()), -77);
  EXPECT_TRUE(logical_and{}(true, logical_and::identity<bool>()));
  EXPECT_FALSE(logical_or{}(false, logical_or::identity<bool>()));
  EXPECT_EQ(multiplies{}(2.5f, multiplies::identity<float>()), 2.5f);
  static_assert(!has_known_identity<smaller, place>);
}

// --- 4.15.3 ---

void histogram(queue& q, index_t n, const device_view<unsigned>& bins) {
  q.parallel_for(
      "histogram", range{n}, KERAMOS_LAMBDA(index_t i) {
        atomic_ref<unsigned>(bins(std::size_t((value_of(i) + 300) % bins.extent(0))))++;
      });
}
TEST(Sycl_4_15_3_AtomicRef, CountsInAHistogram) {
  queue q;
  const index_t n = 100000;
  device_view<unsigned> bins("bins", 17);
  histogram(q, n, bins);
  q.wait();
  std::vector<unsigned> expected(17);
  for (index_t i = 0; i < n; ++i) expected[(value_of(i) + 300) % 17]++;
  auto h = on_host(bins);
  for (int b = 0; b < 17; ++b) EXPECT_EQ(h(b), expected[b]);
}

struct every_operation {
  double sum, least, most;
  std::int64_t minus, exchanged;
  std::uint32_t bits_and, bits_or, bits_xor, swapped;
};
void operate(queue& q, index_t n, every_operation* x) {
  q.parallel_for(
      "operate", range{n}, KERAMOS_LAMBDA(index_t i) {
        const double v = double(value_of(i));
        atomic_ref(x->sum).fetch_add(v);
        atomic_ref(x->least).fetch_min(v);
        atomic_ref(x->most).fetch_max(v);
        atomic_ref<std::int64_t, memory_order::seq_cst>(x->minus) -= i;
        atomic_ref(x->exchanged).exchange(i);
        atomic_ref(x->bits_and).fetch_and(~(std::uint32_t(1) << (i % 20)));
        atomic_ref(x->bits_or) |= std::uint32_t(1) << (i % 20);
        atomic_ref(x->bits_xor) ^= std::uint32_t(i);
        // Add 3 by compare and exchange.
        const atomic_ref<std::uint32_t, memory_order::acq_rel> swapped(x->swapped);
        std::uint32_t seen = swapped.load();
        while (!swapped.compare_exchange_weak(seen, seen + 3)) {
        }
      });
}
TEST(Sycl_4_15_3_AtomicRef, EveryOperation) {
  queue q;
  const index_t n = 30000;
  shared_array<every_operation> x(1, q);
  x[0] = {0, 1e9, -1e9, 0, -1, ~0u, 0, 0, 0};
  operate(q, n, x.data());
  q.wait();
  double sum = 0, least = 1e9, most = -1e9;
  std::uint32_t bits = 0;
  for (index_t i = 0; i < n; ++i) {
    sum += double(value_of(i));
    least = std::min(least, double(value_of(i)));
    most = std::max(most, double(value_of(i)));
    bits ^= std::uint32_t(i);
  }
  EXPECT_EQ(x[0].sum, sum);
  EXPECT_EQ(x[0].least, least);
  EXPECT_EQ(x[0].most, most);
  EXPECT_EQ(x[0].minus, -n * (n - 1) / 2);
  EXPECT_GE(x[0].exchanged, 0);
  EXPECT_LT(x[0].exchanged, n);
  EXPECT_EQ(x[0].bits_and, ~((1u << 20) - 1));
  EXPECT_EQ(x[0].bits_or, (1u << 20) - 1);
  EXPECT_EQ(x[0].bits_xor, bits);
  EXPECT_EQ(x[0].swapped, 3u * n);
}

// The 8-byte integers that are not those of <cstdint>, with sums and extremes beyond 32 bits.
struct wide_integers {
  long long sum, least;
  unsigned long long taken, most, last;
};
void operate(queue& q, index_t n, wide_integers* x, const device_view<unsigned>& seen) {
  q.parallel_for(
      "operate_wide", range{n}, KERAMOS_LAMBDA(index_t i) {
        const long long v = -(1ll << 40) + value_of(i);
        atomic_ref(x->sum) += v;
        atomic_ref(x->least).fetch_min(v);
        atomic_ref(x->most).fetch_max(1ull << 63 | unsigned(i));
        const unsigned long long ticket = atomic_ref(x->taken).fetch_add(1ull);
        atomic_ref(seen(ticket)).fetch_add(1u);
        if (ticket + 1 == (unsigned long long)(n)) atomic_ref(x->last).store(atomic_ref(x->taken).load());
      });
}
void all_that_atomics_return(queue& q, int* x, int* seen) {
  q.parallel_for(
      "return", range{1}, KERAMOS_LAMBDA(index_t) {
        const atomic_ref<int> a(*x);
        int* to = seen;
        *to++ = a++, *to++ = ++a, *to++ = a--, *to++ = --a;
        *to++ = a += 3, *to++ = a -= 2, *to++ = a &= 3, *to++ = a |= 5, *to++ = a ^= 1, *to++ = a = 9;
        *to++ = a.fetch_sub(4), *to++ = a.fetch_or(2), *to++ = a.fetch_xor(1);
      });
}
TEST(Sycl_4_15_3_AtomicRef, EachOperationReturnsTheOldOrTheNewValue) {
  queue q;
  shared_array<int> x(1, q), seen(13, q);
  x[0] = 5;
  all_that_atomics_return(q, x.data(), seen.data());
  q.wait();
  const int expected[] = {5, 7, 7, 5, 8, 6, 2, 7, 6, 9, 9, 5, 7};
  for (int i = 0; i < 13; ++i) EXPECT_EQ(seen[i], expected[i]) << i;
  EXPECT_EQ(x[0], 6);
}

TEST(Sycl_4_15_3_AtomicRef, IntegersOfEightBytes) {
  queue q;
  const index_t n = 30000;
  shared_array<wide_integers> x(1, q);
  x[0] = {};
  device_view<unsigned> seen("seen", n);
  operate(q, n, x.data(), seen);
  q.wait();
  long long sum = 0, least = 0;
  for (index_t i = 0; i < n; ++i) {
    const long long v = -(1ll << 40) + value_of(i);
    sum += v, least = std::min(least, v);
  }
  EXPECT_EQ(x[0].sum, sum);
  EXPECT_EQ(x[0].least, least);
  EXPECT_EQ(x[0].most, 1ull << 63 | (n - 1));
  EXPECT_EQ(x[0].taken, (unsigned long long)(n));
  EXPECT_EQ(x[0].last, (unsigned long long)(n));
  auto h = on_host(seen);
  for (index_t i = 0; i < n; ++i) ASSERT_EQ(h(i), 1u) << i;
}

// In local memory with the narrowest scope that all items share; with orders for both outcomes of an exchange.
void elect(queue& q, const device_view<int>& out) {
  using wg = group<local_range<300>, local_memory<local_array<int, 2>>>;
  q.parallel_for_work_group<wg>(
      "elect", range{out.extent(0) / 2}, KERAMOS_LAMBDA(wg & g) {
        const auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) {
          if (it.i < 2) a(it.i) = it.i == 0 ? -1 : 0;
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) {
          using shared = atomic_ref<int, memory_order::relaxed, memory_scope::work_group>;
          int nobody = -1;
          const bool first =
              shared(a.data()[0])
                  .compare_exchange_strong(nobody, it.i, memory_order::acq_rel, memory_order::acquire);
          if (first || nobody != -1) ++shared(a.data()[1]);
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) {
          if (it.i < 2) out(2 * (it.gi / 300) + it.i) = a(it.i);
        });
      });
}
TEST(Sycl_4_15_3_AtomicRef, ScopesAndLocalMemory) {
  constexpr int groups = 20;
  device_view<int> out("out", 2 * groups);
  queue q;
  elect(q, out);
  q.wait();
  const auto h = on_host(out);
  for (int g = 0; g < groups; ++g) {
    EXPECT_GE(h(2 * g), 0);
    EXPECT_LT(h(2 * g), 300);
    EXPECT_EQ(h(2 * g + 1), 300);  // one was first, the others saw it
  }
}
void link(queue& q, int** head, int* nodes, int count) {
  q.parallel_for(
      "link", range{count}, KERAMOS_LAMBDA(index_t i) {
        const atomic_ref<int*, memory_order::acq_rel> at(*head);
        nodes[i] = at.exchange(nodes + i) == nullptr ? 1 : 0;
      });
}
TEST(Sycl_4_15_3_AtomicRef, Pointers) {
  constexpr int count = 1000;
  queue q;
  shared_array<int*> head(1, q);
  shared_array<int> nodes(count, q);
  head[0] = nullptr;
  link(q, head.data(), nodes.data(), count);
  q.wait();
  int firsts = 0;
  for (const int first : nodes) firsts += first;
  EXPECT_EQ(firsts, 1);
  EXPECT_GE(head[0], nodes.data());
  EXPECT_LT(head[0], nodes.data() + count);
}

// Message passing: who sees the flag sees what was written before it. The pairs run in groups of their own.
void pass_messages(queue& q, int pairs, int* data, int* flag, int* wrong) {
  q.parallel_for(
      "messages", range{2 * pairs}, KERAMOS_LAMBDA(index_t i) {
        const index_t pair = i % pairs;
        if (i < pairs) {
          data[32 * pair] = int(pair) + 1;
          atomic_ref<int, memory_order::acq_rel>(flag[32 * pair]).store(1);
        } else if (atomic_ref<int, memory_order::acq_rel>(flag[32 * pair]).load() == 1) {
          if (data[32 * pair] != pair + 1) atomic_ref(*wrong)++;
        }
      });
}
TEST(Sycl_4_15_3_AtomicRef, ReleaseAndAcquirePassMessages) {
  queue q;
  const int pairs = 20000;
  shared_array<int> data(32 * pairs, q), flag(32 * pairs, q), wrong(1, q);
  for (int repeat = 0; repeat < 3; ++repeat) {
    q.memset(data.data(), 0, 32 * pairs * sizeof(int));
    q.memset(flag.data(), 0, 32 * pairs * sizeof(int));
    q.memset(wrong.data(), 0, sizeof(int));
    pass_messages(q, pairs, data.data(), flag.data(), wrong.data());
    q.wait();
    EXPECT_EQ(wrong[0], 0);
  }
}

}  // namespace

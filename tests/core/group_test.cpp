// SYCL 2020, 4.9.4.2.3 "Parallel for hierarchical invoke" and 4.7.6.11 "Local accessor": phases, private values,
// local memory, barriers.
#include <gtest/gtest.h>

#include <string>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class T>
using device_view = Kokkos::View<T, default_execution_space>;

template <class V>
auto on_host(const V& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

// Rule 1: groups far larger than any team that Kokkos' OpenMP or CUDA would run.
template <int Items>
void reverse_blocks(queue& q, const device_view<int*>& from, const device_view<int*>& to) {
  using line = local_array<int, Items>;
  using wg = group<local_range<Items>, local_memory<line>>;
  q.parallel_for_work_group<wg>(
      "reverse", range{from.extent(0) / Items}, KERAMOS_LAMBDA(wg & g) {
        auto block = g.template local<0>();
        g.parallel_for_work_item([=](h_item it) { block(it.i) = from(it.gi); });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { to(it.gi) = block(Items - 1 - it.i); });
      });
}
template <int Items>
void test_reverse() {
  constexpr int groups = 9;
  device_view<int*> from("from", groups * Items), to("to", groups * Items);
  auto h = Kokkos::create_mirror_view(from);
  for (int i = 0; i < groups * Items; ++i) h(i) = 7 * i + 1;
  Kokkos::deep_copy(from, h);
  queue q;
  reverse_blocks<Items>(q, from, to);
  q.wait();
  auto r = on_host(to);
  for (int i = 0; i < groups * Items; ++i)
    ASSERT_EQ(r(i), 7 * (i / Items * Items + Items - 1 - i % Items) + 1) << i;
}
TEST(Sycl_4_9_4_2_3_WorkGroups, OneItem) { test_reverse<1>(); }
TEST(Sycl_4_9_4_2_3_WorkGroups, NoMultipleOfAWarp) { test_reverse<37>(); }
TEST(Sycl_4_9_4_2_3_WorkGroups, LargerThanAHostsTeam) { test_reverse<256>(); }
TEST(Sycl_4_9_4_2_3_WorkGroups, LargerThanAnyTeam) { test_reverse<3000>(); }

// Rule 4: private values survive barriers, also when a thread has several items.
template <int L0, int L1, int L2>
void accumulate(queue& q, const device_view<long***>& out, int steps) {
  using cell = local_array<long, L0, L1, L2>;
  using wg = group<local_range<L0, L1, L2>, local_memory<cell>>;
  q.parallel_for_work_group<wg>(
      "accumulate", range{out.extent(0) / L0, out.extent(1) / L1, out.extent(2) / L2},
      KERAMOS_LAMBDA(wg & g) {
        auto shared = g.template local<0>();
        auto sum = g.make_private(0L);
        auto step_of = g.make_private(1);
        for (int s = 0; s < steps; ++s) {
          g.parallel_for_work_item([=](h_item it) { shared(it.i, it.j, it.k) = it.linear + s; });
          g.barrier();
          g.parallel_for_work_item(
              [=](h_item it, long& total, int& count) {
                // The neighbour's value, so that a missing barrier shows.
                total += count * shared((it.i + 1) % L0, (it.j + 1) % L1, (it.k + 1) % L2);
                ++count;
              },
              sum, step_of);
          g.barrier();
        }
        g.parallel_for_work_item([=](h_item it, long& total) { out(it.gi, it.gj, it.gk) = total; }, sum);
      });
}
template <int L0, int L1, int L2>
void test_accumulate() {
  device_view<long***> out("out", 2 * L0, 3 * L1, 2 * L2);
  queue q;
  const int steps = 5;
  accumulate<L0, L1, L2>(q, out, steps);
  q.wait();
  auto h = on_host(out);
  for (int i = 0; i < 2 * L0; ++i)
    for (int j = 0; j < 3 * L1; ++j)
      for (int k = 0; k < 2 * L2; ++k) {
        const long neighbour = ((i + 1) % L0 * L1 + (j + 1) % L1) * L2 + (k + 1) % L2;
        long expected = 0;
        for (int s = 0; s < steps; ++s) expected += (s + 1) * (neighbour + s);
        ASSERT_EQ(h(i, j, k), expected) << i << ' ' << j << ' ' << k;
      }
}
TEST(Sycl_4_9_4_2_3_WorkGroups, PrivateValuesSurvivePhases) { test_accumulate<2, 3, 5>(); }
TEST(Sycl_4_9_4_2_3_WorkGroups, PrivateValuesOfManyItemsAThread) { test_accumulate<16, 16, 16>(); }

// Local arrays lie apart, aligned, typed, and keep the order of the list.
void write_arrays(queue& q, const device_view<double*>& out) {
  using bytes = local_array<char, 3>;
  using wide = local_array<double, 5>;
  using wg = group<local_range<5>, local_memory<bytes, wide, bytes>>;
  q.parallel_for_work_group<wg>(
      "arrays", range{1}, KERAMOS_LAMBDA(wg & g) {
        auto x = g.template local<0>();
        auto y = g.template local<1>();
        auto z = g.template local<2>();
        g.parallel_for_work_item([=](h_item it) {
          if (it.i < 3) x(it.i) = char(1 + it.i), z(it.i) = char(10 + it.i);
          y[it.i] = 0.5 * it.i;
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) {
          const bool aligned = reinterpret_cast<unsigned long long>(y.data()) % alignof(double) == 0;
          out(it.i) = aligned ? x(it.i % 3) + 100 * z(it.i % 3) + y(it.i) : -1;
        });
      });
}
TEST(Sycl_4_7_6_11_LocalMemory, ArraysLieApart) {
  device_view<double*> out("out", 5);
  queue q;
  write_arrays(q, out);
  q.wait();
  auto h = on_host(out);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(h(i), 1 + i % 3 + 100 * (10 + i % 3) + 0.5 * i);
}

// Rule 6.
constexpr int too_large = 1 << 26;
void ask_for_too_much(queue& q, const device_view<int*>& ran) {
  using huge = local_array<double, too_large>;
  using wg = group<local_range<32>, local_memory<huge>>;
  q.parallel_for_work_group<wg>(
      "greedy", range{1}, KERAMOS_LAMBDA(wg & g) { g.parallel_for_work_item([=](h_item) { ran(0) = 1; }); });
}
TEST(Sycl_4_7_6_11_LocalMemory, MoreThanTheDeviceHasThrowsBeforeAnythingRuns) {
  device_view<int*> ran("ran", 1);
  queue q;
  const int team = group<local_range<32>>::team_size;
  const auto limit = backend::traits<default_execution_space>::local_memory_limit(q.execution_space(), team);
  try {
    ask_for_too_much(q, ran);
    FAIL() << "no exception";
  } catch (const launch_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("greedy"), what.npos) << what;
    EXPECT_NE(what.find(std::to_string(8LL * too_large)), what.npos) << what;
    EXPECT_NE(what.find(std::to_string(limit)), what.npos) << what;
    EXPECT_NE(what.find("smaller local arrays"), what.npos) << what;
  }
  q.wait();
  EXPECT_EQ(on_host(ran)(0), 0);
}

// Everything up to the limit is really there.
constexpr int large = 5000;  // doubles: over the 32 KiB of a host's small scratch, under 48 KiB
void use_much(queue& q, const device_view<double*>& out) {
  using array = local_array<double, large>;
  using wg = group<local_range<64>, local_memory<array>>;
  q.parallel_for_work_group<wg>(
      "much", range{out.extent(0) / 64}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.template local<0>();
        g.parallel_for_work_item([=](h_item it) {
          for (int p = it.i; p < large; p += 64) a(p) = p + double(it.gi / 64);
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) {
          double sum = 0;
          for (int p = it.i; p < large; ++p) sum += a(p);
          out(it.gi) = sum;
        });
      });
}
TEST(Sycl_4_7_6_11_LocalMemory, LargeArraysWork) {
  device_view<double*> out("out", 4 * 64);
  queue q;
  use_much(q, out);
  q.wait();
  auto h = on_host(out);
  for (int i = 0; i < 4 * 64; ++i) {
    double sum = 0;
    for (int p = i % 64; p < large; ++p) sum += p + i / 64;
    ASSERT_EQ(h(i), sum);
  }
}

}  // namespace

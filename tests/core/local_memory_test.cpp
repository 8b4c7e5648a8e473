// Local and private memory of work-groups (SYCL 2020, 4.7.6.11 "Local accessor", 4.9.4.2.3 hierarchical form).
#include <gtest/gtest.h>

#include <string>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;

template <class V>
auto on_host(const V& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

// Static, padded and two dynamic arrays beside each other.
constexpr int items = 40;
using fixed = local_array<short, 3>;
using padded = padded_local_array<int, 1, 8, 5>;
using line = dynamic_local_array<double>;
using table = dynamic_local_array<char, 2>;
using wg = group<local_range<items>, local_memory<fixed, padded, line, table>>;

void fill_all(queue& q, const device_view<double>& out, int length, int rows, int columns) {
  q.parallel_for_work_group<wg>(
      "dynamic", range{out.extent(0) / items}, local_extents(range{length}, range{rows, columns}),
      KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto b = g.local<1>();
        auto c = g.local<2>();
        auto d = g.local<3>();
        g.parallel_for_work_item([=](h_item it) {
          if (it.i < 3) a(it.i) = short(it.i + 1);
          b(it.i / 5, it.i % 5) = 10 * it.i;
          for (int i = it.i; i < c.size(); i += items) c(i) = 0.5 * i;
          for (int i = it.i; i < d.size(); i += items) d(i / d.extent(1), i % d.extent(1)) = char(i % 100);
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) {
          const int other = items - 1 - it.i;
          double sum = a(other % 3) + b(other / 5, other % 5);
          for (int i = 0; i < c.extent(0); ++i) sum += c[i];
          for (int i = 0; i < d.extent(0); ++i) sum += d(i, d.extent(1) - 1);
          out(it.gi) = sum;
        });
      });
}
void test_dynamic(int length, int rows, int columns) {
  device_view<double> out("out", 3 * items);
  queue q;
  fill_all(q, out, length, rows, columns);
  q.wait();
  auto h = on_host(out);
  for (int at = 0; at < 3 * items; ++at) {
    const int other = items - 1 - at % items;
    double sum = other % 3 + 1 + 10 * other;
    for (int i = 0; i < length; ++i) sum += 0.5 * i;
    for (int i = 0; i < rows; ++i) sum += (i * columns + columns - 1) % 100;
    ASSERT_EQ(h(at), sum) << at;
  }
}
TEST(Sycl_4_7_6_11_LocalMemory, ExtentsGivenAtLaunch) {
  test_dynamic(1, 1, 1);
  test_dynamic(100, 7, 9);
  test_dynamic(4000, 3, 31);  // over a host's small scratch
}
TEST(Sycl_4_7_6_11_LocalMemory, ExtentsThatNoArrayHasAreRefused) {
  EXPECT_THROW((void)local_extents(range{(index_t(1) << 32) + 4}), invalid_argument);
  EXPECT_THROW((void)local_extents(range{3}, range{4, -1}), invalid_argument);
  EXPECT_THROW((void)local_extents(range{1 << 16, 1 << 16}), invalid_argument);
  EXPECT_NO_THROW((void)local_extents(range{0, 1 << 30}));
}
TEST(Sycl_4_7_6_11_LocalMemory, TooMuchAtLaunchThrows) {
  device_view<double> out("out", items);
  queue q;
  try {
    fill_all(q, out, 1 << 26, 1, 1);
    FAIL() << "no exception";
  } catch (const launch_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("kernel dynamic"), what.npos) << what;
    EXPECT_NE(what.find("smaller local arrays"), what.npos) << what;
  }
}

TEST(Sycl_4_7_6_11_LocalMemory, PaddingSpreadsRows) {
  static_assert(padded::pitch == 6 && padded::size == 48 && padded::bytes == 192);
  static_assert(local_array<float, 4, 4>::pitch == 4);
  int memory[48];
  const padded a(memory);
  EXPECT_EQ(&a(2, 3) - memory, 2 * 6 + 3);
}

// Private arrays survive phases, item by item.
template <int Items>
void histogram_of_items(queue& q, const device_view<int>& out) {
  using wg = group<local_range<Items>>;
  q.parallel_for_work_group<wg>(
      "private_arrays", range{out.extent(0) / Items}, KERAMOS_LAMBDA(wg & g) {
        auto counts = g.template make_private_array<int, 4>(1);
        for (int round = 0; round < 10; ++round)
          g.parallel_for_work_item([=](h_item it, int(&c)[4]) { c[(it.i * 7 + round) % 4] += round; },
                                   counts);
        g.parallel_for_work_item(
            [=](h_item it, int(&c)[4]) { out(it.gi) = ((c[0] * 100 + c[1]) * 100 + c[2]) * 100 + c[3]; },
            counts);
      });
}
template <int Items>
void test_private_arrays() {
  device_view<int> out("out", 2 * Items);
  queue q;
  histogram_of_items<Items>(q, out);
  q.wait();
  auto h = on_host(out);
  for (int at = 0; at < 2 * Items; ++at) {
    int c[4] = {1, 1, 1, 1};
    for (int round = 0; round < 10; ++round) c[(at % Items * 7 + round) % 4] += round;
    ASSERT_EQ(h(at), ((c[0] * 100 + c[1]) * 100 + c[2]) * 100 + c[3]) << at;
  }
}
TEST(Sycl_4_9_4_2_3_PrivateMemory, ArraysSurvivePhases) {
  test_private_arrays<33>();
  test_private_arrays<2500>();
}

}  // namespace

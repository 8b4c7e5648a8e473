// SYCL 2020, 4.6.5 "Queue class", 4.6.6 "Event class", 4.9.4.2.2 "parallel_for invoke".
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

void number_elements(queue& q, const device_view<index_t*>& v) {
  q.parallel_for(
      "number", range{v.extent(0)}, KERAMOS_LAMBDA(index_t i) { v(i) = 3 * i; });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, RangeOfOneDimensionVisitsEveryPointOnce) {
  device_view<index_t*> v("v", 1000);
  queue q;
  number_elements(q, v);
  q.wait();
  auto h = on_host(v);
  for (index_t i = 0; i < 1000; ++i) ASSERT_EQ(h(i), 3 * i);
}

void count_points(queue& q, const device_view<int***>& v) {
  q.parallel_for(
      "count", range{v.extent(0), v.extent(1), v.extent(2)},
      KERAMOS_LAMBDA(id<3> i) { Kokkos::atomic_add(&v(i[0], i[1], i[2]), 1); });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, RangeOfThreeDimensionsVisitsEveryPointOnce) {
  device_view<int***> v("v", 7, 13, 33);
  queue q;
  count_points(q, v);
  q.wait();
  auto h = on_host(v);
  for (int i = 0; i < 7; ++i)
    for (int j = 0; j < 13; ++j)
      for (int k = 0; k < 33; ++k) ASSERT_EQ(h(i, j, k), 1);
}

// Kernels take the indices of a range one by one, too, as any integers.
void fill_by_indices(queue& q, const device_view<int**>& two, const device_view<int***>& three) {
  q.parallel_for(
      "two", range{two.extent(0), two.extent(1)},
      KERAMOS_LAMBDA(index_t i, int j) { two(i, j) += int(10 * i) + j; });
  q.parallel_for(
      "three", range{three.extent(0), three.extent(1), three.extent(2)},
      KERAMOS_LAMBDA(int i, int j, int k) { three(i, j, k) += 100 * i + 10 * j + k; });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, KernelsTakeIndicesInPlaceOfAnId) {
  device_view<int**> two("two", 3, 5);
  device_view<int***> three("three", 2, 3, 4);
  queue q;
  fill_by_indices(q, two, three);
  q.wait();
  const auto h2 = on_host(two);
  const auto h3 = on_host(three);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) ASSERT_EQ(h2(i, j), 10 * i + j);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 4; ++k) ASSERT_EQ(h3(i, j, k), 100 * i + 10 * j + k);
}

void index_views_by_id(queue& q, const device_view<int*>& v, const device_view<int**>& m) {
  const Kokkos::View<int*, Kokkos::LayoutStride, default_execution_space> column =
      Kokkos::subview(m, Kokkos::ALL(), 1);
  q.parallel_for(
      "id", range{v.extent(0)}, KERAMOS_LAMBDA(id<1> i) {
        v(i) = int(i);
        v[i] += 1;
        m(i, 0) = v(i);
        column(i) = m(i, id<1>(0)) + 1;
      });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, ViewsTakeAnIdAsIndex) {
  device_view<int*> v("v", 9);
  device_view<int**> m("m", 9, 2);
  queue q;
  index_views_by_id(q, v, m);
  q.wait();
  const auto h = on_host(m);
  for (int i = 0; i < 9; ++i) {
    ASSERT_EQ(h(i, 0), i + 1);
    ASSERT_EQ(h(i, 1), i + 2);
  }
}

void abort_in_empty_range(queue& q) {
  q.parallel_for(
      "never", range{5, 0}, KERAMOS_LAMBDA(id<2>) { Kokkos::abort("ran"); });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, EmptyRangeRunsNothing) {
  device_view<index_t*> v("v", 0);
  queue q;
  number_elements(q, v);
  abort_in_empty_range(q);
  q.wait();
}

void write_items(queue& q, const device_view<index_t**>& v) {
  q.parallel_for(
      "nd", nd_range{range{v.extent(0), v.extent(1)}, range{4, 8}}, KERAMOS_LAMBDA(nd_item<2> it) {
        v(it.global[0], it.global[1]) =
            ((it.group[0] * 100 + it.group[1]) * 100 + it.local[0]) * 100 + it.get_local_id(1);
      });
}
TEST(Sycl_4_9_4_2_2_ParallelFor, NdRangeItemsKnowTheirGroup) {
  device_view<index_t**> v("v", 12, 24);
  queue q;
  write_items(q, v);
  q.wait();
  auto h = on_host(v);
  for (index_t i = 0; i < 12; ++i)
    for (index_t j = 0; j < 24; ++j) ASSERT_EQ(h(i, j), ((i / 4 * 100 + j / 8) * 100 + i % 4) * 100 + j % 8);
}

void launch_uneven(queue& q) {
  q.parallel_for("uneven", nd_range{range{10}, range{4}}, KERAMOS_LAMBDA(nd_item<1>){});
}
TEST(Sycl_4_9_4_2_2_ParallelFor, NdRangeThatDoesNotDivideIsRefused) {
  queue q;
  try {
    launch_uneven(q);
    FAIL() << "no exception";
  } catch (const invalid_argument& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("uneven"), what.npos) << what;
    EXPECT_NE(what.find("10"), what.npos) << what;
    EXPECT_NE(what.find("multiple of the local range 4"), what.npos) << what;
  }
}

template <class Exec>
bool same_instance(const Exec& a, const Exec& b) {
  if constexpr (requires { a == b; })  // since Kokkos 4
    return a == b;
  else
    return true;
}
TEST(Sycl_4_6_5_Queue, SharesTheInstanceItWasMadeFrom) {
  const default_execution_space instance;
  basic_queue q(instance);
  EXPECT_TRUE(same_instance(q.execution_space(), instance));
  static_assert(std::is_same_v<decltype(q), queue>);
}

void twice(queue& q, const device_view<index_t*>& v) {
  q.parallel_for(
      "twice", range{v.extent(0)}, KERAMOS_LAMBDA(index_t i) { v(i) *= 2; });
}
void kokkos_plus_one(const default_execution_space& exec, const device_view<index_t*>& v) {
  Kokkos::parallel_for(
      "plus_one", Kokkos::RangePolicy<default_execution_space>(exec, 0, v.extent(0)),
      KOKKOS_LAMBDA(int i) { v(i) += 1; });
}
TEST(Sycl_4_6_5_Queue, StaysInOrderWithKokkosKernelsOnItsInstance) {
  device_view<index_t*> v("v", 4096);
  queue q;
  number_elements(q, v);
  kokkos_plus_one(q.execution_space(), v);
  twice(q, v);
  q.wait();
  auto h = on_host(v);
  for (index_t i = 0; i < 4096; ++i) ASSERT_EQ(h(i), 2 * (3 * i + 1));
}

TEST(Sycl_4_6_5_Queue, DescribesItsDevice) {
  const device_info info = queue().device();
  EXPECT_EQ(info.backend, backend::traits<default_execution_space>::name);
  EXPECT_FALSE(info.name.empty());
  EXPECT_GE(info.units, 1);
  EXPECT_GE(info.local_memory_bytes, 16u * 1024);
}

TEST(Sycl_4_6_6_Event, CompletesAndMeasuresTime) {
  device_view<index_t*> v("v", 1 << 22);
  queue q;
  const event start = q.mark();
  number_elements(q, v);
  const event stop = q.mark();
  stop.wait();
  EXPECT_TRUE(start.is_complete());
  EXPECT_TRUE(stop.is_complete());
  EXPECT_GT(elapsed_seconds(start, stop), 0);
  EXPECT_LT(elapsed_seconds(start, stop), 60);
}

TEST(Sycl_4_6_6_Event, WithoutATimeSaysSo) {
  if (!backend::traits<default_execution_space>::is_host) GTEST_SKIP() << "device events always have a time";
  queue q;
  const event start = q.mark(), kernel = q.completion();
  EXPECT_TRUE(kernel.is_complete());
  EXPECT_THROW(elapsed_seconds(start, kernel), error);
}

// Nothing can be initialised again in this process, so the check runs in a child that never was.
TEST(Sycl_4_6_5_QueueDeathTest, BeforeKokkosIsInitialisedIsAnErrorThatSaysSo) {
  if (!backend::traits<default_execution_space>::is_host)
    GTEST_SKIP() << "a forked child of a process with a device context cannot be used";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Kokkos::finalize();
        try {
          queue q;
        } catch (const not_initialized& e) {
          std::fprintf(stderr, "%s", e.what());
          std::_Exit(7);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(7), "Kokkos is not initialised; call Kokkos::initialize or hold");
}

}  // namespace

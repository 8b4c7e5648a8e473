// SYCL 2020, 4.6.5 "Queue class", 4.6.6 "Event class", 4.9.4.3 "Explicit memory operations", 4.10 "Host
// tasks" and 4.13 "Error handling".
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <future>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

constexpr bool host_backend = backend::traits<default_execution_space>::is_host;

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;

template <class V>
auto on_host(const V& v) {
  return Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), v);
}

// Long enough on a device that whoever does not wait is seen: each element goes through `rounds` steps.
KERAMOS_INLINE_FUNCTION unsigned stepped(unsigned x, int rounds) {
  for (int r = 0; r < rounds; ++r) x = x * 1664525u + 1013904223u;
  return x;
}
event slow_step(queue& q, const device_view<unsigned>& v, int rounds, const queue::events& after = {}) {
  return q.parallel_for(
      "slow_step", range{v.extent(0)}, after, KERAMOS_LAMBDA(index_t i) { v(i) = stepped(v(i), rounds); });
}
event copy_elements(queue& q, const device_view<unsigned>& from, const device_view<unsigned>& to,
                    const queue::events& after) {
  return q.parallel_for(
      "copy_elements", range{from.extent(0)}, after, KERAMOS_LAMBDA(index_t i) { to(i) = from(i) + 1; });
}

// --- 4.6.5 ---

TEST(Sycl_4_6_5_Queue, OwnInstancesAreDistinctWhereKokkosCanMakeThem) {
#if KOKKOS_VERSION < 40600
  GTEST_SKIP() << "this Kokkos makes no independent instances of every space";
#else
  if (std::string(backend::traits<default_execution_space>::name) == "threads")
    GTEST_SKIP() << "Kokkos::Threads has one instance";
  queue a({.own_instance = true}), b({.own_instance = true});
  if (host_backend && a.execution_space() == default_execution_space())
    GTEST_SKIP() << "Kokkos 5's OpenMP makes instances only with OMP_MAX_ACTIVE_LEVELS=2";
  EXPECT_FALSE(a.execution_space() == b.execution_space());
  EXPECT_FALSE(a.execution_space() == default_execution_space());
  const queue copy = a;
  EXPECT_TRUE(copy.execution_space() == a.execution_space());
#endif
}

constexpr int rounds = host_backend ? 100 : 200000;

TEST(Sycl_4_6_5_Queue, WaitsForAnotherQueuesEventWithoutTheHost) {
  queue a({.own_instance = true}), b({.own_instance = true});
  device_view<unsigned> x("x", 5000), y("y", 5000);
  Kokkos::fence();
  const event done = slow_step(a, x, rounds);
  copy_elements(b, x, y, done).wait();  // waits for b alone
  auto h = on_host(y);
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(h(i), stepped(0, rounds) + 1) << i;
}

TEST(Sycl_4_6_5_Queue, WaitsForSeveralEvents) {
  std::array<queue, 3> q{queue({.own_instance = true}), queue({.own_instance = true}),
                         queue({.own_instance = true})};
  std::vector<device_view<unsigned>> x;
  std::vector<event> done;
  for (int i = 0; i < 3; ++i) x.emplace_back("x", 3000);
  Kokkos::fence();
  for (int i = 0; i < 3; ++i) done.push_back(slow_step(q[i], x[i], rounds + i));
  queue last;
  last.depends_on(done);
  device_view<unsigned> y("y", 3000), z("z", 3000);
  copy_elements(last, x[1], y, {done[0], done[2]});
  copy_elements(last, x[2], z, done);
  last.wait();
  EXPECT_TRUE(done[2].is_complete());
  auto hy = on_host(y), hz = on_host(z);
  for (int i = 0; i < 3000; ++i) {
    ASSERT_EQ(hy(i), stepped(0, rounds + 1) + 1);
    ASSERT_EQ(hz(i), stepped(0, rounds + 2) + 1);
  }
}

TEST(Sycl_4_6_5_Queue, WaitsForAnotherBackendsEvent) {
  basic_queue<Kokkos::DefaultHostExecutionSpace> host;
  queue device;
  device_view<unsigned> x("x", 1000);
  Kokkos::fence();
  slow_step(device, x, rounds);
  const event done = device.mark();
  host.depends_on(done);
  constexpr bool same = std::is_same_v<decltype(host), queue>;
  EXPECT_TRUE(same || done.is_complete());
  device.depends_on(host.mark());
  device.wait();
  EXPECT_EQ(on_host(x)(0), stepped(0, rounds));
}

// Every kind of operation takes events; each line below is wrong unless it waits for the one above, which is
// on the other queue.
void sum_after(queue& q, const device_view<unsigned>& v, unsigned* sum, const queue::events& after) {
  q.parallel_for(
      "sum_after", range{v.extent(0)}, after, reduction(sum, keramos::plus{}, initialize_to_identity),
      KERAMOS_LAMBDA(index_t i, unsigned& s) { s += v(i); });
}
event add_one(queue& q, unsigned* x, const queue::events& after) {
  return q.single_task(
      "add_one", after, KERAMOS_LAMBDA() { *x += 1; });
}
event spread(queue& q, const unsigned* x, const device_view<unsigned>& v, const queue::events& after) {
  using wg = group<local_range<10>, local_memory<dynamic_local_array<unsigned>>>;
  return q.parallel_for_work_group<wg>(
      "spread", range{v.extent(0) / 10}, after, local_extents(range{1}), KERAMOS_LAMBDA(wg & g) {
        const auto copy = g.local<0>();
        g.parallel_for_work_item([=](h_item it) {
          if (it.i == 0) copy(0) = *x;
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { v(it.gi) = copy(0); });
      });
}
TEST(Sycl_4_6_5_Queue, EveryOperationWaitsForEvents) {
  constexpr std::size_t n = 3000;
  queue a({.own_instance = true}), b({.own_instance = true});
  device_view<unsigned> x("x", n), y("y", n), sum("sum", 1);
  Kokkos::View<unsigned*, backend::stream<default_execution_space>::host_space> h("h", n);
  Kokkos::fence();
  const event stepped_x = slow_step(a, x, rounds);
  sum_after(b, x, sum.data(), stepped_x);
  const event added = add_one(a, sum.data(), {b.completion(), stepped_x});
  const event written = spread(b, sum.data(), y, added);
  const event filled = a.fill(y.data(), 3u, 10, {written});
  const event copied = b.copy(y.data(), h.data(), n, {filled});
  unsigned seen = 0;
  const event task = a.host_task("look", {copied}, [&] { seen = h(9) + h(10); });
  const event again = b.fill(y, 7u, {task});
  a.copy(y, x, {again}).wait();
  EXPECT_EQ(seen, unsigned(n) * stepped(0, rounds) + 1 + 3);
  EXPECT_EQ(on_host(x)(n - 1), 7u);
}

void write_once(queue& q, const device_view<int>& v) {
  q.single_task(
      "once", KERAMOS_LAMBDA() { v(0) += 1; });
}
TEST(Sycl_4_6_5_Queue, SingleTaskRunsOnce) {
  device_view<int> v("v", 1);
  queue q;
  write_once(q, v);
  write_once(q, v);
  q.wait();
  EXPECT_EQ(on_host(v)(0), 2);
}

void do_nothing(queue& q, range<2> r) { q.parallel_for("do_nothing", r, KERAMOS_LAMBDA(id<2>){}); }
template <class R, class... A>
void add_up(queue& q, R r, int* sum) {
  q.parallel_for(
      "add_up", r, reduction(sum, plus{}), KERAMOS_LAMBDA(id<2>, int& s) { s += 1; });
}
void no_groups(queue& q, range<1> groups) {
  using one = group<local_range<1>>;
  q.parallel_for_work_group<one>("no_groups", groups, KERAMOS_LAMBDA(one&){});
}
void no_items(queue& q, nd_range<1> r) { q.parallel_for("no_items", r, KERAMOS_LAMBDA(nd_item<1>){}); }
TEST(Sycl_4_6_5_Queue, RangesThatCannotBeAreRefused) {
  queue q;
  const device_view<int> sum("sum", 1);
  const index_t huge = index_t(1) << 32;
  for (const range<2> r : {range{huge, huge}, range{3, -1}, range{-1, -1}, range{huge, 2 * huge}}) {
    EXPECT_THROW(do_nothing(q, r), invalid_argument) << r[0] << ' ' << r[1];
    EXPECT_THROW(add_up(q, r, sum.data()), invalid_argument) << r[0] << ' ' << r[1];
  }
  EXPECT_THROW(no_groups(q, range{-2}), invalid_argument);
  EXPECT_THROW(no_items(q, nd_range{range{-8}, range{4}}), invalid_argument);
  do_nothing(q, range{0, huge});
  do_nothing(q, range{2, 3});
  q.wait();
}

// More of it in tests/threads.
TEST(Sycl_4_6_5_Queue, SeveralHostThreadsHaveAQueueEach) {
  constexpr int threads = 4, steps = 20;
  std::vector<device_view<unsigned>> x;
  std::vector<queue> q;
  for (int t = 0; t < threads; ++t) {
    x.emplace_back("x", 500);
    q.emplace_back(queue_options{.own_instance = true});
  }
  Kokkos::fence();
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      for (int s = 0; s < steps; ++s) slow_step(q[t], x[t], t + 1);
      q[t].wait();
    });
  for (auto& t : pool) t.join();
  for (int t = 0; t < threads; ++t) EXPECT_EQ(on_host(x[t])(499), stepped(0, steps * (t + 1)));
}

// --- 4.6.6 ---

TEST(Sycl_4_6_6_Event, MadeByNobodyIsComplete) {
  const event e;
  EXPECT_TRUE(e.is_complete());
  e.wait();
  EXPECT_THROW((void)e.start_seconds(), error);
  queue q;
  q.depends_on(e);
  EXPECT_THROW((void)elapsed_seconds(e, q.mark()), error);
}

TEST(Sycl_4_6_6_Event, IsPolledUntilComplete) {
  queue q;
  device_view<unsigned> x("x", 5000);
  const event done = slow_step(q, x, rounds);
  while (!done.is_complete()) std::this_thread::yield();
  event::wait({done, q.mark()});
  EXPECT_TRUE(done.is_complete());
}

// What is queued behind an event is held up until the event has been seen complete.
TEST(Sycl_4_6_6_Event, DoesNotWaitForWhatIsQueuedBehindIt) {
  if (host_backend) GTEST_SKIP() << "a host task runs before the call returns";
  queue q({.own_instance = true});
  device_view<unsigned> x("x", 1000);
  Kokkos::fence();
  const event before = slow_step(q, x, 10);
  std::promise<void> seen;
  q.host_task("held", [held = seen.get_future().share()] { held.wait(); });
  const event copy = before, behind = slow_step(q, x, 10);
  copy.wait();
  EXPECT_TRUE(before.is_complete());
  EXPECT_FALSE(behind.is_complete());
  seen.set_value();
  behind.wait();
  EXPECT_TRUE(copy.is_complete());
}

TEST(Sycl_4_6_6_Event, OutlivesItsQueueAndThoseDropped) {
  device_view<unsigned> x("x", 1000);
  Kokkos::fence();
  std::vector<event> kept;
  {
    queue q({.own_instance = true});
    for (int step = 0; step < 6; ++step) {
      event e = slow_step(q, x, 10);
      if (step % 2) kept.push_back(e);
      if (step == 2) e.wait();
    }
  }
  for (const event& e : kept) e.wait();
  EXPECT_EQ(on_host(x)(999), stepped(0, 60));
}

TEST(Sycl_4_6_6_Event, TellsDeviceTimesWhenAsked) {
  queue q({.enable_profiling = true});
  device_view<unsigned> x("x", 200000);
  const event first = slow_step(q, x, rounds / 10);
  const event second = slow_step(q, x, rounds / 10);
  EXPECT_GE(first.start_seconds(), 0);
  EXPECT_GT(first.duration_seconds(), 0);
  EXPECT_LT(first.duration_seconds(), 60);
  EXPECT_NEAR(first.end_seconds() - first.start_seconds(), first.duration_seconds(), 1e-5);
  EXPECT_GE(second.start_seconds(), first.end_seconds() - 1e-6);  // in order
  EXPECT_GT(second.end_seconds(), second.start_seconds());
}
// Not, say, from its end to its end.
TEST(Sycl_4_6_6_Event, TheTimeOfLongWorkIsMostOfTheHosts) {
  queue q({.enable_profiling = true});
  device_view<unsigned> x("x", 200000);
  double most = 0;  // of several, since the host may be busy with others' work
  for (int i = 0; i < 20 && most < 0.2; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const event work = slow_step(q, x, rounds);
    work.wait();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    EXPECT_LE(work.duration_seconds(), 1.1 * seconds);
    most = std::max(most, work.duration_seconds() / seconds);
  }
  EXPECT_GE(most, 0.2);
}
TEST(Sycl_4_6_6_Event, WithoutProfilingSaysHowToGetTimes) {
  queue q;
  try {
    (void)q.mark().end_seconds();
    FAIL() << "no exception";
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("enable_profiling = true"), std::string::npos) << e.what();
  }
}

// --- 4.9.4.3 ---

TEST(Sycl_4_9_4_3_Memory, MemcpyFillMemsetAndCopyKeepTheQueuesOrder) {
  constexpr std::size_t n = 100000;  // beyond what hosts copy without Kokkos
  queue q({.own_instance = true});
  device_view<int> a("a", n), b("b", n);
  std::vector<int> in(n), out(n), filled(7);
  std::iota(in.begin(), in.end(), 5);
  q.memcpy(a.data(), in.data(), n * sizeof(int));
  q.copy(a.data(), b.data(), n);
  q.fill(b.data() + 10, -3, 4);
  q.memset(b.data() + 20, 0xff, 2 * sizeof(int));
  q.copy(b.data(), out.data(), n).wait();
  for (std::size_t i = 0; i < n; ++i)
    ASSERT_EQ(out[i], i >= 10 && i < 14 ? -3 : i >= 20 && i < 22 ? -1 : int(i) + 5) << i;
  q.memcpy(nullptr, nullptr, 0);
  q.fill(static_cast<int*>(nullptr), 1, 0);
  q.wait_and_throw();
}
TEST(Sycl_4_9_4_3_Memory, ViewsAreCopiedAndFilled) {
  queue q;
  Kokkos::View<double**, Kokkos::LayoutRight, default_execution_space> a("a", 20, 30), b("b", 20, 30);
  q.fill(a, 2.5);
  q.copy(a, b);
  q.wait();
  EXPECT_EQ(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), b)(19, 29), 2.5);
}
TEST(Sycl_4_9_4_3_Memory, NullPointersAreRefused) {
  queue q;
  int x = 0;
  EXPECT_THROW(q.memcpy(&x, nullptr, 4), invalid_argument);
  EXPECT_THROW(q.memcpy(nullptr, &x, 4), invalid_argument);
  EXPECT_THROW(q.fill(static_cast<int*>(nullptr), 1, 1), invalid_argument);
}
TEST(Sycl_4_9_4_3_Memory, FillOfHostMemoryOnADeviceSaysWhatToDo) {
  if (host_backend) GTEST_SKIP() << "hosts reach all host memory";
  std::vector<int> x(10);
  queue q;
  try {
    q.fill(x.data(), 1, 10);
    FAIL() << "no exception";
  } catch (const memory_error& e) {
    EXPECT_NE(std::string(e.what()).find("malloc_device"), std::string::npos) << e.what();
  }
}

// --- 4.10 and 4.13 ---

TEST(Sycl_4_10_HostTask, RunsInTheQueuesOrder) {
  queue q({.own_instance = true});
  device_view<unsigned> x("x", 1000);
  Kokkos::View<unsigned*, backend::stream<default_execution_space>::host_space> h("h", 1000);
  std::vector<unsigned> seen;
  Kokkos::fence();
  slow_step(q, x, rounds);
  q.memcpy(h.data(), x.data(), 1000 * sizeof(unsigned));
  const event done = q.host_task("look", [&] { seen.assign(h.data(), h.data() + 1000); });
  done.wait();
  ASSERT_EQ(seen.size(), 1000u);
  EXPECT_EQ(seen[999], stepped(0, rounds));
}

TEST(Sycl_4_13_Errors, AHostTasksExceptionsComeAtWaitAndThrow) {
  queue q;
  q.host_task("reads_a_file", [] { throw std::out_of_range("no such row"); });
  q.host_task("next", [] { throw 7; });
  q.wait();  // delivers nothing
  try {
    q.wait_and_throw();
    FAIL() << "no exception";
  } catch (const asynchronous_error& e) {
    const std::string what = e.what();
    EXPECT_NE(what.find("reads_a_file failed: no such row"), what.npos) << what;
    EXPECT_NE(what.find("next failed"), what.npos) << what;
    EXPECT_EQ(e.label(), "reads_a_file");
    EXPECT_THROW(std::rethrow_if_nested(e), std::out_of_range);
  }
  q.wait_and_throw();  // delivered once
}

// A fault costs the process its device, so it happens in a child.
void write_far_away(queue& q, int* p) {
  q.parallel_for(
      "writes_far_away", range{1}, KERAMOS_LAMBDA(index_t) { *p = 1; });
}
TEST(Sycl_4_13_ErrorsDeathTest, ADevicesFaultNamesTheKernel) {
  if (host_backend) GTEST_SKIP() << "a fault on a host ends the process";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        try {
          queue q;
          write_far_away(q, reinterpret_cast<int*>(0x10));
          q.wait_and_throw();
        } catch (const asynchronous_error& e) {
          std::fprintf(stderr, "%s [%s]", e.what(), e.label().c_str());
          std::_Exit(7);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(7),
      "failed on the device: .*queued last: writes_far_away.*\\[writes_far_away\\]");
}

}  // namespace

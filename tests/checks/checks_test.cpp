// The checked build: each seeded mistake is caught, with a message that says where and what to do; right
// kernels pass (this program also runs the tests of groups and group algorithms). Compiled with KERAMOS_CHECKS.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <keramos/core/buffer.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/queue.hpp>
#include <keramos/view/matrix_view.hpp>

namespace {

using namespace keramos;

constexpr bool host_backend = backend::traits<default_execution_space>::is_host;

template <class T>
using device_view = Kokkos::View<T*, default_execution_space>;

// Hosts end the program with the message; devices with one of their own, and the queue throws the label.
template <class F>
void end_with_the_error(const F& f) {
  try {
    f();
  } catch (const asynchronous_error& e) {
    std::fprintf(stderr, "%s", e.what());
    std::_Exit(9);
  }
}
#define EXPECT_CAUGHT_ON(STATEMENT, HOST, DEVICE)                                           \
  do {                                                                                      \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                                         \
    EXPECT_DEATH(end_with_the_error([&] { STATEMENT; }), host_backend ? (HOST) : (DEVICE)); \
  } while (false)
#define EXPECT_CAUGHT(STATEMENT, MESSAGE) EXPECT_CAUGHT_ON(STATEMENT, MESSAGE, "out of bounds")

using line = local_array<int, 8>;
using wg = group<local_range<8>, local_memory<line>>;

template <class Kernel>
void run(queue& q, const char* label, const Kernel& kernel) {
  q.parallel_for_work_group<wg>(label, range{2}, kernel);
  q.wait();
}

// --- rule 3 ---

void read_without_barrier(const device_view<int>& out) {
  queue q;
  run(
      q, "forgetful", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i) = it.i; });
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = a((it.i + 1) % 8); });
      });
}
void read_with_barrier(const device_view<int>& out) {
  queue q;
  run(
      q, "careful", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i) = it.i; });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = a((it.i + 1) % 8); });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { a(it.i) = 2 * it.i; });  // its own, again
        g.parallel_for_work_item([=](h_item it) { out(it.gi) += a(it.i); });
      });
}
TEST(ChecksDeathTest, AMissingBarrierBetweenWriteAndRead) {
  if (!host_backend) GTEST_SKIP() << "found on hosts: compute-sanitizer's racecheck finds it on CUDA";
  device_view<int> out("out", 16);
  EXPECT_CAUGHT(read_without_barrier(out),
                "kernel forgetful, group [01], after 0 barriers: item [0-7] uses element \\([0-7]\\) of "
                "local<0>\\(\\), which item "
                "[0-7] wrote since the last barrier. Put g.barrier\\(\\) between the two phases \\(rule "
                "3\\). With KERAMOS_SEED=[0-9]+ "
                "items run in this order again.");
}
TEST(Checks, ABarrierBetweenWriteAndReadIsEnough) {
  device_view<int> out("out", 16);
  read_with_barrier(out);
  auto h = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(h(i), (i + 1) % 8 + 2 * (i % 8));
}

// The second round's writes meet the first one's reads.
void write_without_barrier(const device_view<int>& out) {
  queue q;
  run(
      q, "overtaking", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto sum = g.make_private(0);
        for (int round = 0; round < 2; ++round) {
          g.parallel_for_work_item([=](h_item it) { a(it.i) = it.i + 10 * round; });
          g.barrier();
          g.parallel_for_work_item([=](h_item it, int& s) { s += a((it.i + 1) % 8); }, sum);
        }
        g.parallel_for_work_item([=](h_item it, int& s) { out(it.gi) = s; }, sum);
      });
}
TEST(ChecksDeathTest, AMissingBarrierBetweenReadAndWrite) {
  if (!host_backend) GTEST_SKIP() << "found on hosts: compute-sanitizer's racecheck finds it on CUDA";
  device_view<int> out("out", 16);
  EXPECT_CAUGHT(write_without_barrier(out),
                "kernel overtaking, group [01], after 1 barrier: item [0-7] writes element .[0-7]. of "
                "local<0>.., which "
                "(item [0-7]|several items) used since the last barrier");
}

void two_writers(const device_view<int>& out) {
  queue q;
  run(
      q, "colliding", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i / 2) = it.i; });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = a(it.i / 2); });
      });
}
TEST(ChecksDeathTest, TwoItemsWriteOneElement) {
  if (!host_backend) GTEST_SKIP() << "found on hosts";
  device_view<int> out("out", 16);
  EXPECT_CAUGHT(two_writers(out),
                "kernel colliding.*item [0-7] uses element .[0-3]. of local<0>.., which item [0-7] wrote");
}

// An element is named by the array and its indices, in a padded or dynamic one and in a slot of a ring.
void write_shared_element(int which) {
  using padded = padded_local_array<int, 1, 2, 3>;
  using ring = local_array<int, 2, 3, 4>;
  using lines = group<local_range<8>, local_memory<padded, ring, dynamic_local_array<int, 2>>>;
  queue q;
  q.parallel_for_work_group<lines>(
      "named", range{1}, local_extents(range{5, 7}), KERAMOS_LAMBDA(lines & g) {
        const auto a = g.local<0>();
        const auto slot = g.local<1>().sub(1);
        const auto c = g.local<2>();
        g.parallel_for_work_item([=](h_item it) {
          (which == 0 ? a(1, 2) : which == 1 ? slot(2, 3) : c(4, 6)) = it.i;
        });
      });
  q.wait();
}
TEST(ChecksDeathTest, AnElementIsNamedByItsArrayAndIndices) {
  if (!host_backend) GTEST_SKIP() << "found on hosts";
  EXPECT_CAUGHT(write_shared_element(0), "element .1, 2. of local<0>..,");
  EXPECT_CAUGHT(write_shared_element(1), "element .1, 2, 3. of local<1>..,");
  EXPECT_CAUGHT(write_shared_element(2), "element .4, 6. of local<2>..,");
}

// A group algorithm is no barrier (rule 8).
void algorithm_for_barrier(const device_view<int>& out) {
  queue q;
  run(
      q, "hopeful", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto x = g.make_private(1);
        g.parallel_for_work_item([=](h_item it) { a(it.i) = it.i; });
        const int all = reduce_over_group(g, x, keramos::plus{});
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = all + a(7 - it.i); });
      });
}
TEST(ChecksDeathTest, AGroupAlgorithmTakenForABarrier) {
  if (!host_backend) GTEST_SKIP() << "found on hosts";
  device_view<int> out("out", 16);
  EXPECT_CAUGHT(algorithm_for_barrier(out), "kernel hopeful.*rule 3");
}

// --- rule 2 ---

void write_outside_a_phase() {
  queue q;
  run(
      q, "uniform", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        a(0) = 5;
        g.barrier();
      });
}
TEST(ChecksDeathTest, AWriteOutsideAPhase) {
  if (!host_backend) GTEST_SKIP() << "found on hosts";
  EXPECT_CAUGHT(write_outside_a_phase(),
                "kernel uniform, group [01], after 0 barriers: code outside phases writes element .0. of "
                "local<0>.., once "
                "for each thread of the team. .*rule 2");
}

// --- rule 5: [&] compiles ---

void barrier_in_a_phase() {
  queue q;
  run(
      q, "impatient", KERAMOS_LAMBDA(wg & g) { g.parallel_for_work_item([&](h_item) { g.barrier(); }); });
}
void phase_in_a_phase() {
  queue q;
  run(
      q, "nested", KERAMOS_LAMBDA(wg & g) {
        g.parallel_for_work_item([&](h_item) { g.parallel_for_work_item([=](h_item) {}); });
      });
}
void algorithm_in_a_phase() {
  queue q;
  run(
      q, "eager", KERAMOS_LAMBDA(wg & g) {
        auto x = g.make_private(1);
        g.parallel_for_work_item([&](h_item) { (void)reduce_over_group(g, x, keramos::plus{}); });
      });
}
TEST(ChecksDeathTest, ABarrierInAPhase) {
  EXPECT_CAUGHT_ON(barrier_in_a_phase(),
                   "kernel impatient, group [01], after 0 barriers: item [0-7] calls a barrier inside a "
                   "phase. .*\\[=\\].*rule 5",
                   "inside a phase");
}
TEST(ChecksDeathTest, APhaseInAPhase) {
  EXPECT_CAUGHT_ON(phase_in_a_phase(), "kernel nested.* item [0-7] begins a phase inside a phase.*rule 5",
                   "inside a phase");
}
TEST(ChecksDeathTest, AGroupAlgorithmInAPhase) {
  EXPECT_CAUGHT_ON(algorithm_in_a_phase(),
                   "kernel eager.* item [0-7] calls a group algorithm inside a phase.*rule 5",
                   "inside a phase");
}

void count_by_reference(const device_view<int>& out) {
  queue q;
  run(
      q, "counting", KERAMOS_LAMBDA(wg & g) {
        double before = 1;
        int count = 0;
        g.parallel_for_work_item([&](h_item) { ++count; });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = count + int(before); });
      });
}
void fill_array_by_reference(const device_view<int>& out) {
  queue q;
  run(
      q, "table", KERAMOS_LAMBDA(wg & g) {
        int table[8] = {};
        int* const pointer = table;
        g.parallel_for_work_item([=](h_item it) { pointer[it.i] = it.i; });
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = table[7 - it.i]; });
      });
}
TEST(ChecksDeathTest, AWriteThroughAReferenceCapturedByAPhase) {
  if (!host_backend) GTEST_SKIP() << "found on hosts";
  device_view<int> out("out", 16);
  EXPECT_CAUGHT(count_by_reference(out),
                "kernel counting, group [01], after 0 barriers: item [0-7] changes a variable from outside "
                "its phase, of which "
                "each thread of a GPU has its own. Capture by value.*private value.*rules 4 and 5");
  EXPECT_CAUGHT(fill_array_by_reference(out),
                "kernel table.*item [1-7] changes a variable from outside its phase");
}

// What only reads through references passes, and so does what is written elsewhere: arrays and private values.
void read_by_reference(const device_view<int>& out) {
  queue q;
  run(
      q, "reading", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto x = g.make_private(0);
        for (int round = 0; round < 3; ++round) {
          const int step = round + 1;
          g.parallel_for_work_item(
              [&](h_item it, int& mine) {
                mine += step;
                a(it.i) = mine + round;
              },
              x);
        }
        g.barrier();
        g.parallel_for_work_item([&](h_item it) { out(it.gi) = a((it.i + 1) % 8); });
      });
}
TEST(Checks, AReferenceCapturedByAPhaseMayBeRead) {
  if (!host_backend) GTEST_SKIP() << "on hosts";
  device_view<int> out("out", 16);
  read_by_reference(out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out(i), 6 + 2);
}

// --- rule 6 ---

void read_before_write(const device_view<int>& out) {
  queue q;
  run(
      q, "premature", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { out(it.gi) = a(it.i); });
      });
}
TEST(Checks, LocalMemoryStartsAsAllOnes) {
  if (!host_backend) GTEST_SKIP() << "on hosts";
  device_view<int> out("out", 16);
  read_before_write(out);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out(i), -1);
}

// --- rule 7 ---

void record_order(const device_view<int>& order, const device_view<int>& turn) {
  queue q;
  using row = group<local_range<4, 16>>;
  q.parallel_for_work_group<row>(
      "order", range{1, 1}, KERAMOS_LAMBDA(row & g) {
        g.parallel_for_work_item([=](h_item it) {
          order(it.linear) = turn(0);
          turn(0) += 1;
        });
      });
  q.wait();
}
TEST(Checks, ItemsRunInShuffledOrderEachOnce) {
  if (!host_backend) GTEST_SKIP() << "devices run items at once";
  device_view<int> first("first", 64), second("second", 64), turn("turn", 1);
  record_order(first, turn);
  EXPECT_EQ(turn(0), 64);
  turn(0) = 0;
  record_order(second, turn);
  std::vector<int> seen(64);
  bool in_order = true, same = true;
  for (int i = 0; i < 64; ++i) {
    seen[std::size_t(first(i))]++;
    in_order &= first(i) == i;
    same &= first(i) == second(i);
  }
  EXPECT_EQ(seen, std::vector<int>(64, 1));
  EXPECT_FALSE(in_order);  // one chance in 64! of failing
  EXPECT_FALSE(same);
}

// A kernel on a host may launch others: their groups are watched apart, whether they are larger or smaller.
template <int Items>
void add_items(const device_view<int>& sum) {
  queue q;
  using row = group<local_range<Items>, local_memory<local_array<int, Items>>>;
  q.parallel_for_work_group<row>(
      "inner", range{1}, KERAMOS_LAMBDA(row & g) {
        auto a = g.template local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i) = it.i; });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { Kokkos::atomic_add(&sum(0), a((it.i + 1) % Items)); });
      });
}
void launch_from_items(const device_view<int>& out, const device_view<int>& sum) {
  queue q;
  run(
      q, "outer", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) {
          a(it.i) = it.i;
          KOKKOS_IF_ON_HOST((add_items<64>(sum); add_items<2>(sum);))
        });
        g.barrier();
        g.parallel_for_work_item([=](h_item it) { out(it.gi) += a((it.i + 1) % 8); });
      });
}
TEST(Checks, AKernelMayLaunchAnotherOnAHost) {
  if (!host_backend) GTEST_SKIP() << "on hosts";
  device_view<int> out("out", 16), sum("sum", 1);
  launch_from_items(out, sum);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(out(i), (i + 1) % 8);
  EXPECT_EQ(sum(0), 16 * (64 * 63 / 2 + 1));
}

// --- bounds ---

void local_out_of_bounds(int index) {
  queue q;
  run(
      q, "far", KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i == 3 ? index : it.i) = it.i; });
      });
}
TEST(ChecksDeathTest, ALocalIndexOutOfBounds) {
  EXPECT_CAUGHT(local_out_of_bounds(8),
                "kernel far, group [01], after 0 barriers: item 3 asks local<0>\\(\\) for index 8 in "
                "dimension 0, of extent 8. ");
  EXPECT_CAUGHT(local_out_of_bounds(-1), "index -1 in dimension 0");
}

// Inside the memory, but not inside the row.
void past_a_padded_row() {
  using tile = padded_local_array<int, 1, 4, 4>;
  using square = group<local_range<4, 4>, local_memory<tile>>;
  queue q;
  q.parallel_for_work_group<square>(
      "padded", range{1, 1}, KERAMOS_LAMBDA(square & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i, it.j + 1) = 1; });
      });
  q.wait();
}
TEST(ChecksDeathTest, APaddedRowsPaddingIsOutOfBounds) {
  EXPECT_CAUGHT(past_a_padded_row(),
                "item [0-9]+ asks local<0>\\(\\) for index 4 in dimension 1, of extent 4");
}

void past_a_dynamic_array(int length) {
  using dynamic = group<local_range<8>, local_memory<dynamic_local_array<int>>>;
  queue q;
  q.parallel_for_work_group<dynamic>(
      "dynamic", range{1}, local_extents(range{length}), KERAMOS_LAMBDA(dynamic & g) {
        auto a = g.local<0>();
        g.parallel_for_work_item([=](h_item it) { a(it.i) = 1; });
      });
  q.wait();
}
TEST(ChecksDeathTest, ADynamicArraysIndexOutOfBounds) {
  past_a_dynamic_array(8);
  EXPECT_CAUGHT(past_a_dynamic_array(7),
                "item 7 asks local<0>\\(\\) for index 7 in dimension 0, of extent 7");
}

void read_past(queue& q, accessor<int, 2, access_mode::read_write> a, index_t column) {
  q.parallel_for(
      "past", range{2}, KERAMOS_LAMBDA(index_t i) { a(i, column) = 1; });
  q.wait();
}
TEST(ChecksDeathTest, AnAccessorsIndexOutOfBounds) {
  queue q;
  buffer<int, 2> x{range{2, 5}};
  read_past(q, accessor(x, q, read_write), 4);
  // Row 0 has no element 5, though the buffer has.
  EXPECT_CAUGHT(read_past(q, accessor(x, q, read_write), 5),
                "index 5 of dimension 1 is out of bounds: the extent of the accessor is 5");
}

void matrix_past(const matrix_view<double>& m, index_t row) {
  queue q;
  q.parallel_for(
      "matrix", range{1}, KERAMOS_LAMBDA(index_t) { m(row, 1) = 2; });
  q.wait();
}
TEST(ChecksDeathTest, AMatrixViewsIndexOutOfBounds) {
  device_view<double> memory("memory", 64);
  const auto m = matrix_view<double>::row_major(memory.data(), 4, 4, 8);
  matrix_past(m, 3);
  EXPECT_CAUGHT(matrix_past(m, 4),
                "index 4 of dimension 0 is out of bounds: the extent of the matrix_view is 4");
  EXPECT_CAUGHT(matrix_past(m, -1), "index -1");
}

}  // namespace

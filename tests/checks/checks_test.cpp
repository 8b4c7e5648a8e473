// The checked build: each seeded mistake is caught, with a message that says where and what to do; right
// kernels pass (this program also runs the tests of groups and group algorithms). Compiled with KERAMOS_CHECKS.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <keramos/core/buffer.hpp>
#include <keramos/core/group_algorithms.hpp>
#include <keramos/core/matrix_view.hpp>
#include <keramos/core/queue.hpp>

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
#define EXPECT_CAUGHT(STATEMENT, MESSAGE)                                                             \
  do {                                                                                                \
    GTEST_FLAG_SET(death_test_style, "threadsafe");                                                   \
    EXPECT_DEATH(end_with_the_error([&] { STATEMENT; }), host_backend ? (MESSAGE) : "out of bounds"); \
  } while (false)

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
  EXPECT_CAUGHT(
      read_without_barrier(out),
      "kernel forgetful, group [01], after barrier 0: local element of 4 bytes at offset [0-9]+ is used "
      "after it was written, with no barrier between, by item [0-7] did; this is item [0-7].*"
      "g.barrier.*rule 3.*KERAMOS_SEED=");
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
                "kernel overtaking.*after barrier 1.*is written while an item uses it");
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
  EXPECT_CAUGHT(two_writers(out), "kernel colliding.*with no barrier between");
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
  EXPECT_CAUGHT(write_outside_a_phase(), "kernel uniform.*written outside a phase.*rule 2");
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
                "index 8 of dimension 0 is out of bounds: the extent of the local array is 8");
  EXPECT_CAUGHT(local_out_of_bounds(-1), "index -1 of dimension 0");
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
  EXPECT_CAUGHT(past_a_padded_row(), "index 4 of dimension 1 is out of bounds");
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
                "index 7 of dimension 0 is out of bounds: the extent of the local array is 7");
}

void read_past(queue& q, accessor<int, 2, access_mode::read_write> a, index_t column) {
  q.parallel_for(
      "past", range{2}, KERAMOS_LAMBDA(index_t i) { a(i, column) = 1; });
  q.wait();
}
TEST(ChecksDeathTest, AnAccessorsIndexOutOfBounds) {
  queue q;
  buffer<int, 2> x(range{2, 5});
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

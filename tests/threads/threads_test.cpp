// What several host threads may do at once: launches, products and algorithms, each thread on a queue of its own.
// Data are small whole numbers, so that every order of summing gives the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <keramos/keramos.hpp>

namespace {

using namespace keramos;

using host_space = Kokkos::DefaultHostExecutionSpace;

KERAMOS_INLINE_FUNCTION double digit(index_t i, int salt) { return double((i * 7 + salt) % 5) - 2; }

/// Plain pointers into Views that one thread owns: Kokkos built with Serial alone counts a View's owners without
/// atomics, so threads must not copy one View.
template <class Exec>
struct thread_data {
  explicit thread_data(int salt) : salt(salt) {}

  int salt;
  index_t n = 90 + 37 * salt, length = 5000 + 701 * salt;
  Kokkos::View<double*, Exec> matrices{"matrices", std::size_t(3 * n * n)};
  Kokkos::View<double*, Exec> lists{"lists", std::size_t(3 * length + 2)};
  double* const a = matrices.data();
  double* const b = a + n * n;
  double* const c = b + n * n;
  double* const x = lists.data();
  double* const y = x + length;
  double* const z = y + length;
  double* const sums = z + length;
};

template <class Exec>
void write_input(basic_queue<Exec>& q, const thread_data<Exec>& d) {
  double *const a = d.a, *const b = d.b, *const x = d.x;
  const int salt = d.salt;
  q.parallel_for(
      "write_matrices", range{d.n * d.n},
      KERAMOS_LAMBDA(index_t i) { a[i] = digit(i, salt), b[i] = digit(i, salt + 1); });
  q.parallel_for(
      "write_list", range{d.length}, KERAMOS_LAMBDA(index_t i) { x[i] = digit(i, salt); });
  q.fill(d.y, -1.0, std::size_t(d.length));
  q.fill(d.c, -1.0, std::size_t(d.n * d.n));
}

/// Each group writes its items backwards through local memory, of a size that differs from thread to thread.
template <class Exec>
void reverse_blocks(basic_queue<Exec>& q, const thread_data<Exec>& d) {
  using group_type = group<local_range<64>, local_memory<dynamic_local_array<double>>, Exec>;
  const index_t length = d.length;
  const double* const x = d.x;
  double* const z = d.z;
  const int block = 64 + 16 * d.salt;
  q.template parallel_for_work_group<group_type>(
      "reverse_blocks", range{(length + block - 1) / block}, local_extents(range{block + 500 * d.salt}),
      KERAMOS_LAMBDA(group_type & g) {
        const auto t = g.template local<0>();
        const index_t first = g.get_group_id(0) * block;
        const int count = int(length - first < block ? length - first : block);
        for (int round = 0; round * 64 < count; ++round)
          g.parallel_for_work_item([=](h_item it) {
            const int i = round * 64 + it.i;
            if (i < count) t(i) = x[first + i];
          });
        g.barrier();
        for (int round = 0; round * 64 < count; ++round)
          g.parallel_for_work_item([=](h_item it) {
            const int i = round * 64 + it.i;
            if (i < count) z[first + i] = t(count - 1 - i);
          });
      });
}

template <class Exec>
void compute(basic_queue<Exec>& q, const thread_data<Exec>& d) {
  write_input(q, d);
  reverse_blocks(q, d);
  gemm(q, 1.0, matrix_view<const double>{d.a, d.n, d.n, d.n, 1},
       matrix_view<const double>{d.b, d.n, d.n, d.n, 1}, 0.0, matrix_view<double>{d.c, d.n, d.n, d.n, 1});
  inclusive_scan(q, grid_view<const double, 1>{d.x, {d.length}, {1}},
                 grid_view<double, 1>{d.y, {d.length}, {1}});
  reduce(q, grid_view<const double, 1>{d.x, {d.length}, {1}}, d.sums);
  const double* const x = d.x;
  q.parallel_for(
      "count_twos", range{d.length}, reduction(d.sums + 1, plus{}, initialize_to_identity),
      KERAMOS_LAMBDA(index_t i, double& count) { count += x[i] == 2; });
  q.wait();
}

/// What is wrong with the results; empty if nothing is.
template <class Exec>
std::string verdict(const thread_data<Exec>& d) {
  const auto m = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), d.matrices);
  const auto l = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), d.lists);
  const auto at = [&](const char* what, index_t i) {
    return std::string(what) + ' ' + std::to_string(i) + " of thread " + std::to_string(d.salt);
  };
  for (index_t i = 0; i < d.n; ++i)
    for (index_t j = 0; j < d.n; ++j) {
      double sum = 0;
      for (index_t p = 0; p < d.n; ++p) sum += digit(i * d.n + p, d.salt) * digit(p * d.n + j, d.salt + 1);
      if (m(2 * d.n * d.n + i * d.n + j) != sum) return at("product", i * d.n + j);
    }
  double sum = 0, twos = 0;
  const index_t block = 64 + 16 * d.salt;
  for (index_t i = 0; i < d.length; ++i) {
    sum += digit(i, d.salt), twos += digit(i, d.salt) == 2;
    if (l(d.length + i) != sum) return at("scan", i);
    const index_t first = i / block * block, count = std::min(block, d.length - first);
    if (l(2 * d.length + i) != digit(first + count - 1 - (i - first), d.salt)) return at("work-group", i);
  }
  if (l(3 * d.length) != sum) return at("reduce", 0);
  if (l(3 * d.length + 1) != twos) return at("reduction", 0);
  return "";
}

constexpr int thread_count = 4, rounds = 10;

/// `work(thread)` on several host threads at once.
void on_threads(const std::function<void(int)>& work) {
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t) threads.emplace_back(work, t);
  for (auto& t : threads) t.join();
}

template <class Exec>
std::vector<thread_data<Exec>> data_of_threads(int count = thread_count) {
  std::vector<thread_data<Exec>> data;
  for (int t = 0; t < count; ++t) data.emplace_back(t);
  Kokkos::fence();
  return data;
}

class Threads : public testing::TestWithParam<bool> {};

TEST_P(Threads, EachWithAQueueOfItsOwn) {
  const auto data = data_of_threads<default_execution_space>();
  std::vector<std::string> wrong(thread_count);
  std::vector<queue> q;
  for (int t = 0; t < thread_count; ++t) q.emplace_back(queue_options{.own_instance = GetParam()});
  on_threads([&](int t) {
    for (int r = 0; r < rounds && wrong[t].empty(); ++r) compute(q[t], data[t]), wrong[t] = verdict(data[t]);
  });
  for (const auto& w : wrong) EXPECT_EQ(w, "");
}

TEST_P(Threads, MakeTheirQueuesThemselves) {
  const auto data = data_of_threads<default_execution_space>();
  std::vector<std::string> wrong(thread_count);
  on_threads([&](int t) {
    for (int r = 0; r < rounds && wrong[t].empty(); ++r) {
      queue q(queue_options{.own_instance = GetParam()});
      compute(q, data[t]);
      wrong[t] = verdict(data[t]);
    }
  });
  for (const auto& w : wrong) EXPECT_EQ(w, "");
}

// A device's runtime may know another device as such a thread's own.
TEST_P(Threads, WithNothingButEvents) {
  queue q(queue_options{.own_instance = GetParam()});
  std::thread([&] { q.mark().wait(); }).join();
  std::thread([&] { q.host_task("nothing", [] {}).wait(); }).join();
  q.mark().wait();
}

template <int Number>
struct add_number {
  double* x;
  KERAMOS_FUNCTION void operator()(index_t i) const { x[i] += Number; }
};
template <int... Number>
void add_numbers(queue& q, index_t n, double* x, std::integer_sequence<int, Number...>) {
  (q.parallel_for("add_number", range{n}, add_number<Number>{x}), ...);
}
// Kokkos enters a kernel into a table when it first launches it.
TEST_P(Threads, LaunchKernelsForTheFirstTime) {
  constexpr int kernels = 40, n = 100;
  std::vector<queue> q;
  std::vector<device_array<double>> x;
  for (int t = 0; t < thread_count; ++t) {
    q.emplace_back(queue_options{.own_instance = GetParam()});
    x.emplace_back(n, q.back());
    q.back().fill(x.back().data(), 0.0, n).wait();
  }
  on_threads([&](int t) {
    add_numbers(q[t], n, x[t].data(), std::make_integer_sequence<int, kernels>());
    q[t].wait();
  });
  for (int t = 0; t < thread_count; ++t) {
    std::vector<double> sums(n);
    q[t].memcpy(sums.data(), x[t].data(), n * sizeof(double)).wait();
    EXPECT_EQ(sums, std::vector<double>(n, kernels * (kernels - 1) / 2));
  }
}

INSTANTIATE_TEST_SUITE_P(Instance, Threads, testing::Values(false, true),
                         [](const auto& p) { return p.param ? "Own" : "Default"; });

// The host's queues beside the device's, if this build has one.
TEST(HostThreads, ComputeOnTheHostAsWell) {
  const auto data = data_of_threads<host_space>();
  std::vector<std::string> wrong(thread_count);
  on_threads([&](int t) {
    basic_queue<host_space> q;
    for (int r = 0; r < rounds && wrong[t].empty(); ++r) compute(q, data[t]), wrong[t] = verdict(data[t]);
  });
  for (const auto& w : wrong) EXPECT_EQ(w, "");
}

// Of several queues, on a device at the same time and on a thread of the device's runtime.
TEST(HostThreads, HostTasksUseQueuesOfTheHost) {
  const auto data = data_of_threads<host_space>();
  std::vector<queue> q;
  for (int t = 0; t < thread_count; ++t) q.emplace_back(queue_options{.own_instance = true});
  on_threads([&](int t) {
    q[t].host_task("on_the_host", [&data, t] {
      basic_queue<host_space> inner;
      compute(inner, data[t]);
    });
    q[t].wait_and_throw();
  });
  for (const auto& d : data) EXPECT_EQ(verdict(d), "");
}

// What a kernel launches on its own host thread does not get the kernel's local memory.
TEST(HostThreads, LocalMemoryOfNestedLaunchesIsApart) {
  constexpr std::size_t bytes = 1000;
  const thread_data<host_space> inner(1);
  basic_queue<host_space> q;
  write_input(q, inner);
  const backend::host::local_block outer(bytes);
  std::fill_n(outer.data(), bytes, std::byte(42));
  reverse_blocks(q, inner);
  q.wait();
  for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(outer.data()[i], std::byte(42)) << i;
}

#ifdef _OPENMP
// More threads than Kokkos has in its pool, too.
TEST(HostThreads, InAParallelRegionOfOpenMp) {
  constexpr int count = 6;
  const auto data = data_of_threads<default_execution_space>(count);
  std::vector<std::string> wrong(count);
#pragma omp parallel for num_threads(count) schedule(static, 1)
  for (int t = 0; t < count; ++t) {
    queue q;
    for (int r = 0; r < rounds && wrong[t].empty(); ++r) compute(q, data[t]), wrong[t] = verdict(data[t]);
  }
  for (const auto& w : wrong) EXPECT_EQ(w, "");
}
#endif

}  // namespace

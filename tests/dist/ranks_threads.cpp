// Two threads of each rank multiply at the same time, each on a communicator of its own (MPI_THREAD_MULTIPLE).
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include <keramos/core/runtime.hpp>
#include <keramos/core/usm.hpp>
#include <keramos/dist/dist.hpp>

namespace dist = keramos::dist;
using keramos::index_t;

namespace {

/// Products of small whole numbers; how many elements of C on this rank are wrong.
int wrong_of_thread(dist::communicator& comm, int thread) {
  int wrong = 0;
  for (index_t time = 0; time < 20; ++time) {
    const index_t m = 30 + 7 * time, n = 20 + 5 * thread, k = 40 + time % 3;
    const auto in_columns = [&](index_t rows, index_t cols) {
      return dist::layout(dist::block_cyclic{rows, cols, 4, 3, {1, comm.size()}});
    };
    const auto number = [&](index_t i, index_t j) { return double((i * 3 + j * 5 + thread + time) % 7 - 3); };
    const auto filled = [&](const dist::layout& l) {
      const auto e = l.part_extents(comm.rank());
      std::vector<double> part(std::size_t(e.rows * e.cols + 1));
      for (index_t j = 0; j < e.cols; ++j)
        for (index_t i = 0; i < e.rows; ++i) {
          const auto [row, col] = l.to_global(comm.rank(), 0, i, j);
          part[std::size_t(j * e.rows + i)] = number(row, col);
        }
      return part;
    };
    auto& q = comm.queue();
    const auto on_device = [&](const std::vector<double>& part) {
      keramos::device_array<double> there(part.size(), q);
      q.memcpy(there.data(), part.data(), part.size() * sizeof(double)).wait();
      return there;
    };
    const auto over = [&](const dist::layout& l, const keramos::device_array<double>& part) {
      const auto e = l.part_extents(comm.rank());
      return dist::matrix<double>(l, keramos::matrix_view<double>::column_major(part.data(), e.rows, e.cols));
    };
    const dist::layout of_a = in_columns(m, k), of_b = in_columns(k, n), of_c = in_columns(m, n);
    std::vector<double> c = filled(of_c);
    const auto a_there = on_device(filled(of_a)), b_there = on_device(filled(of_b)), c_there = on_device(c);
    dist::gemm(comm, 1.0, over(of_a, a_there), over(of_b, b_there), 0.0, over(of_c, c_there));
    q.memcpy(c.data(), c_there.data(), c.size() * sizeof(double)).wait();
    const auto e = of_c.part_extents(comm.rank());
    for (index_t j = 0; j < e.cols; ++j)
      for (index_t i = 0; i < e.rows; ++i) {
        const auto [row, col] = of_c.to_global(comm.rank(), 0, i, j);
        double sum = 0;
        for (index_t l = 0; l < k; ++l) sum += number(row, l) * number(l, col);
        wrong += c[std::size_t(j * e.rows + i)] != sum;
      }
  }
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  if (given != MPI_THREAD_MULTIPLE) {
    std::fprintf(stderr, "this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::atomic<int> wrong = 0;
  {
    const keramos::runtime guard(argc, argv);
    std::vector<dist::communicator> of_threads;
    of_threads.reserve(2);
    for (int i = 0; i < 2; ++i) of_threads.emplace_back(MPI_COMM_WORLD);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back([&, i] { wrong += wrong_of_thread(of_threads[std::size_t(i)], i); });
    for (std::thread& t : threads) t.join();
  }
  int mine = wrong, all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (all > 0) std::fprintf(stderr, "%d elements are wrong\n", all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}

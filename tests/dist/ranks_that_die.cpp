// Products one after the other until a rank dies: killed_ranks.sh kills or stops one, or this program's own rank 1 leaves by an
// exception ("throw"). Prints the processes; a rank that finds others missing says so and ends the job.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <keramos/core/runtime.hpp>
#include <keramos/dist/dist.hpp>

namespace dist = keramos::dist;

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const keramos::runtime guard(argc, argv);
  dist::communicator_options options;
  options.mpi_timeout_seconds = 1;
  dist::communicator comm(MPI_COMM_WORLD, options);
  std::printf("process %d %d\n", comm.rank(), int(getpid()));
  std::fflush(stdout);
  const bool throws = argc > 1 && std::string(argv[1]) == "throw" && comm.rank() == 1;
  const keramos::index_t n = 96;
  std::vector<double> data(std::size_t(n * n), 1.0), result(data);
  const dist::layout layout = dist::block_cyclic{n, n, 5, 5, {1, comm.size()}};
  const auto over = [&](std::vector<double>& x) {
    return dist::matrix<double>(layout, keramos::matrix_view<double>::column_major(x.data(), n, n));
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto seconds = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  try {
    // Each rank stops by its own clock, in the end, where this test does nothing to it.
    while (seconds() < 60) {
      if (throws && seconds() > 0.3) throw std::runtime_error("rank 1 has had enough");
      dist::gemm(comm, 1.0, over(data), over(data), 0.0, over(result));
    }
  } catch (const dist::communication_error& e) {
    const double a = data[0];
    std::fprintf(stderr, "%s; A is %s\n", e.what(), a == 1.0 ? "intact" : "lost");
    std::fflush(stderr);
    usleep(500000);  // so that the others say so too
    MPI_Abort(MPI_COMM_WORLD, 3);
  } catch (const std::runtime_error&) {
    if (argc > 2) usleep(20000000);  // and does nothing any more: the others must find out
    throw;
  }
  return 4;  // nobody died
}

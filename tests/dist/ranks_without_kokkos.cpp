// Rank 1 has not initialised Kokkos: all ranks throw not_initialized, and none waits for it.
#include <cstdio>
#include <optional>
#include <string>

#include <keramos/core/runtime.hpp>
#include <keramos/dist/dist.hpp>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, right = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    std::optional<keramos::runtime> kokkos;
    if (rank != 1) kokkos.emplace(argc, argv);
    try {
      keramos::dist::communicator comm(MPI_COMM_WORLD);
    } catch (const keramos::not_initialized& e) {
      right = std::string(e.what()).find("(found on rank 1)") != std::string::npos;
      if (!right) std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
    }
  }
  MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Finalize();
  return all == 1 ? 0 : 1;
}

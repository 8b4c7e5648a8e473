#include <cstdio>

#include <keramos/dist/dist.hpp>
#include <keramos/keramos.hpp>

namespace dist = keramos::dist;

bool multiply() {
  dist::communicator comm(MPI_COMM_WORLD);
  const keramos::index_t m = 300, n = 200, k = 100;

  // C as ScaLAPACK has it, in blocks of 32 x 32 dealt to a grid of ranks; A and B on rank 0.
  const dist::layout of_c = dist::block_cyclic{m, n, 32, 32, {comm.size(), 1}};
  const auto mine = of_c.part_extents(comm.rank());
  using space = keramos::default_execution_space;
  Kokkos::View<double**, Kokkos::LayoutLeft, space> c("C", mine.rows, mine.cols);
  const bool here = comm.rank() == 0;
  Kokkos::View<double**, space> a("A", here ? m : 0, k), b("B", here ? n : 0, k);
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(b, 2.0);

  const dist::matrix A(dist::layout::on_rank(m, k), a), B(dist::layout::on_rank(n, k), b), C(of_c, c);
  if (here) std::puts(dist::explain(comm, A, B, C, {.op_b = keramos::op::T}).c_str());
  dist::gemm(comm, 1.0, A, B, 0.0, C, {.op_b = keramos::op::T});  // C = A·Bᵀ

  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  for (int i = 0; i < int(mine.rows); ++i)
    for (int j = 0; j < int(mine.cols); ++j)
      if (on_host(i, j) != 2.0 * k) return false;
  return true;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right;
  {
    keramos::runtime guard(argc, argv);
    right = multiply();
  }
  MPI_Finalize();
  return right ? 0 : 1;
}

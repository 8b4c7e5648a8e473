// Two dimensions, and the first step of the GEMM ladder: one point of C for each (i, j).
#include <keramos/keramos.hpp>
using matrix = Kokkos::View<float**, keramos::default_execution_space>;

void multiply(keramos::queue& q, matrix A, matrix B, matrix C) {
  const int k = A.extent(1);
  q.parallel_for(
      "multiply", keramos::range{C.extent(0), C.extent(1)}, KERAMOS_LAMBDA(keramos::id<2> at) {
        float sum = 0;
        for (int p = 0; p < k; ++p) sum += A(at[0], p) * B(p, at[1]);
        C(at[0], at[1]) = sum;
      });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  matrix A("A", 40, 30), B("B", 30, 50), C("C", 40, 50), D("D", 40, 50);
  Kokkos::deep_copy(A, 3.0f);
  Kokkos::deep_copy(B, 0.5f);

  keramos::queue q;
  multiply(q, A, B, C);
  keramos::gemm(q, 1, A, B, 0, D).wait();  // the library's, to compare with

  const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
  const auto d = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), D);
  for (int i = 0; i < 40; ++i)
    for (int j = 0; j < 50; ++j)
      if (c(i, j) != 45 || d(i, j) != 45) return 1;
}

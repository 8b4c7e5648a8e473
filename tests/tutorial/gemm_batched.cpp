#include <keramos/keramos.hpp>
#include <vector>

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int batch = 1000, n = 8;
  Kokkos::View<double***> a("A", batch, n, n), c("C", batch, n, n);
  Kokkos::View<double**> b("B", n, n);
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(b, 2.0);

  keramos::queue q;
  keramos::gemm_batched(q, 1.0, a, b, 0.0, c);  // C[i] = A[i]·B: the batch comes first; one B for all

  std::vector<Kokkos::View<double**>> x, y, z;  // each problem with extents of its own, in one launch
  for (int m : {3, 40, 300}) {
    x.emplace_back("X", m, n), y.emplace_back("Y", n, m), z.emplace_back("Z", m, m);
    Kokkos::deep_copy(x.back(), 1.0);
    Kokkos::deep_copy(y.back(), 3.0);
  }
  keramos::gemm_batched(q, 1.0, x, y, 0.0, z).wait();  // Z[i] = X[i]·Y[i]

  const auto c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  const auto z_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), z[2]);
  return c_host(batch - 1, 7, 7) == 2.0 * n && z_host(299, 299) == 3.0 * n ? 0 : 1;
}

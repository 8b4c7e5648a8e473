#include <keramos/keramos.hpp>

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);  // initialises Kokkos, unless the application has
  const int m = 300, n = 200, k = 100;
  Kokkos::View<double**> a("A", m, k), b("B", n, k), c("C", m, n);
  Kokkos::deep_copy(a, 1.0);
  Kokkos::deep_copy(b, 2.0);

  keramos::queue q;
  keramos::gemm(q, 1.0, a, b, 0.0, c, {.op_b = keramos::op::T}).wait();  // C = A·Bᵀ

  const auto c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  return c_host(m - 1, n - 1) == 2.0 * k ? 0 : 1;
}

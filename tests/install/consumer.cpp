// An application that uses Keramos: C = 2 * A * B, checked in one element.
#include <keramos/keramos.hpp>

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  Kokkos::View<double**> a("a", 30, 40);
  Kokkos::View<double**> b("b", 40, 50);
  Kokkos::View<double**> c("c", 30, 50);
  Kokkos::deep_copy(a, 3.0);
  Kokkos::deep_copy(b, 5.0);

  keramos::queue queue;
  keramos::gemm(queue, 2.0, a, b, 0.0, c);
  queue.wait();

  auto c_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), c);
  return c_host(29, 49) == 2.0 * 3.0 * 5.0 * 40 ? 0 : 1;
}

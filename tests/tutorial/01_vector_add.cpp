// A queue, an array on the device, a kernel over a range.
#include <keramos/keramos.hpp>

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int n = 1000;
  Kokkos::View<float*> a("a", n), b("b", n), sum("sum", n);  // in the device's memory
  Kokkos::deep_copy(a, 1.5f);
  Kokkos::deep_copy(b, 2.0f);

  keramos::queue q;
  q.parallel_for(
      "vector_add", keramos::range{n}, KERAMOS_LAMBDA(keramos::index_t i) { sum(i) = a(i) + b(i); });
  q.wait();  // nothing waits by itself

  const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), sum);
  for (int i = 0; i < n; ++i)
    if (on_host(i) != 3.5f) return 1;
}

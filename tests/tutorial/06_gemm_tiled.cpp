#include <keramos/keramos.hpp>
using matrix = Kokkos::View<float**, keramos::default_execution_space>;

void multiply(keramos::queue& q, matrix A, matrix B, matrix C) {
  using tile = keramos::local_array<float, 16, 16>;  // typed, sized local memory
  using wg = keramos::group<keramos::local_range<16, 16>, keramos::local_memory<tile, tile>>;
  const int m = C.extent(0), n = C.extent(1), k = A.extent(1);
  q.parallel_for_work_group<wg>(
      "multiply", keramos::range{(m + 15) / 16, (n + 15) / 16}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto b = g.local<1>();
        auto sum = g.make_private(0.0f);  // one value per item; it survives phases
        for (int k0 = 0; k0 < k; k0 += 16) {
          g.parallel_for_work_item([=](keramos::h_item it) {
            a(it.i, it.j) = it.gi < m && k0 + it.j < k ? A(it.gi, k0 + it.j) : 0;
            b(it.i, it.j) = k0 + it.i < k && it.gj < n ? B(k0 + it.i, it.gj) : 0;
          });
          g.barrier();
          g.parallel_for_work_item(
              [=](keramos::h_item it, float& c) {
                for (int p = 0; p < 16; ++p) c += a(it.i, p) * b(p, it.j);
              },
              sum);
          g.barrier();
        }
        g.parallel_for_work_item(
            [=](keramos::h_item it, float& c) {
              if (it.gi < m && it.gj < n) C(it.gi, it.gj) = c;
            },
            sum);
      });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int m = 100, n = 70, k = 50;  // no multiples of the tile
  matrix A("A", m, k), B("B", k, n), C("C", m, n);
  Kokkos::deep_copy(A, 3.0f);
  Kokkos::deep_copy(B, 0.5f);

  keramos::queue q;
  multiply(q, A, B, C);
  q.wait();

  const auto c = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), C);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      if (c(i, j) != 1.5f * k) return 1;
}

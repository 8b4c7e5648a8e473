// What the items of a group do together with private values: here, a dot product.
#include <keramos/keramos.hpp>
using values = Kokkos::View<double*, keramos::default_execution_space>;

void partial_dots(keramos::queue& q, values x, values y, values partial) {
  using wg = keramos::group<keramos::local_range<256>>;
  const keramos::index_t n = x.extent(0), groups = partial.extent(0);
  q.parallel_for_work_group<wg>(
      "partial_dots", keramos::range{groups}, KERAMOS_LAMBDA(wg & g) {
        auto sum = g.make_private(0.0);
        g.parallel_for_work_item(
            [=](keramos::h_item it, double& s) {
              for (keramos::index_t i = it.gi; i < n; i += groups * 256) s += x(i) * y(i);
            },
            sum);
        const double all = keramos::reduce_over_group(g, sum, keramos::plus{});
        g.parallel_for_work_item([=](keramos::h_item it) {
          if (it.i == 0) partial(it.gi / 256) = all;
        });
      });
}

int main(int argc, char** argv) {
  keramos::runtime guard(argc, argv);
  const int n = 100003;
  values x("x", n), y("y", n), partial("partial", 50);
  Kokkos::View<double, keramos::default_execution_space> dot("dot");
  Kokkos::deep_copy(x, 2.0);
  Kokkos::deep_copy(y, 0.25);

  keramos::queue q;
  partial_dots(q, x, y, partial);
  keramos::reduce(q, partial, dot).wait();  // a sum over a whole array; it stays on the device

  const auto result = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), dot);
  return result() == 0.5 * n ? 0 : 1;
}

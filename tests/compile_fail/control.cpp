// control
// What the other files of this folder break, done right.
#include <keramos/keramos.hpp>

void kernel(keramos::queue& q, Kokkos::View<int*, keramos::default_execution_space> out) {
  using line = keramos::local_array<int, 8>;
  using wg = keramos::group<keramos::local_range<8>, keramos::local_memory<line>>;
  q.parallel_for_work_group<wg>(
      "control", keramos::range{1}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto p = g.make_private(1);
        g.parallel_for_work_item([=](keramos::h_item it, int& mine) { a(it.i) = ++mine; }, p);
        g.barrier();
        g.parallel_for_work_item([=](keramos::h_item it) { out(it.gi) = a(7 - it.i); });
      });
}

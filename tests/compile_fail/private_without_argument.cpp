// expect: (private within this context|is inaccessible|private member)
// Rule 4: a private value arrives as an argument, and is not reached otherwise.
#include <keramos/keramos.hpp>

void kernel(keramos::queue& q) {
  using line = keramos::local_array<int, 8>;
  using wg = keramos::group<keramos::local_range<8>, keramos::local_memory<line>>;
  q.parallel_for_work_group<wg>(
      "broken", keramos::range{1}, KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto p = g.make_private(1);
        int captured = 0;
        a(0) = captured;
        g.parallel_for_work_item([=](keramos::h_item, int& mine) { mine = 2; }, p);
        g.parallel_for_work_item([=](keramos::h_item) { a(0) = p.value_[0]; });
      });
}

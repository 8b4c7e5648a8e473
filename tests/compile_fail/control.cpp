// control
// What the other files of this folder break, done right.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        auto p = g.make_private(1);
        g.parallel_for_work_item([=](keramos::h_item it, int& mine) { a(it.i) = ++mine; }, p);
        g.barrier();
        g.parallel_for_work_item([=](keramos::h_item it) { a(it.i) += 1; });
      });
}

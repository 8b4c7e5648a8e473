// expect: (private within this context|is inaccessible|private member)
// Rule 4: a private value arrives as an argument, and is not reached otherwise.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        auto p = g.make_private(1);
        auto a = g.local<0>();
        g.parallel_for_work_item([=](keramos::h_item) { a(0) = p.value_[0]; });
      });
}

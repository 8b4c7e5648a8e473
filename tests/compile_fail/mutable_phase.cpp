// expect in one error: a phase takes its h_item .* it is not mutable
// Rule 5: a mutable phase would write to a copy of a captured scalar.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        int captured = 0;
        g.parallel_for_work_item([=](keramos::h_item it) mutable { captured = it.i; });
      });
}

// expect: (read-only variable|modifiable lvalue|non-const lvalue|not assignable)
// Rule 5: a write to a captured scalar.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        int captured = 0;
        g.parallel_for_work_item([=](keramos::h_item it) { captured = it.i; });
      });
}

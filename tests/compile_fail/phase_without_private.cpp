// expect in one error: a phase takes its h_item and, for each private array
// The phase has no argument for the private value.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        auto p = g.make_private(1);
        g.parallel_for_work_item([=](keramos::h_item) {}, p);
      });
}

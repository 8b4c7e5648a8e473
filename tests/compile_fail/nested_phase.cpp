// expect: (deleted function|cannot be referenced|implicitly-deleted|is deleted)
// Rule 5: a phase inside a phase.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        g.parallel_for_work_item([=](keramos::h_item) { g.parallel_for_work_item([=](keramos::h_item) {}); });
      });
}

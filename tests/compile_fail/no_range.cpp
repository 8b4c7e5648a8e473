// expect in one error: its arguments are a label, a range or nd_range, events, reductions, the kernel
// A number is no range.
#include "prelude.hpp"

void test(keramos::queue& q, double* x) {
  q.parallel_for(
      "broken", 8, KERAMOS_LAMBDA(keramos::index_t i) { x[i] = 1; });
}

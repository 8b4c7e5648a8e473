// expect in one error: its arguments are a label, a range or nd_range, events, reductions, the kernel
#include "prelude.hpp"

void test(keramos::queue& q, double* sum) {
  q.parallel_for(
      "broken", keramos::range{8}, KERAMOS_LAMBDA(keramos::index_t i, double& s) { s += double(i); },
      keramos::reduction(sum, keramos::plus{}));
}

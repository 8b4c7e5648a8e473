// expect in one error: takes a reduction's value by reference
// What it adds would be added to a copy, and lost.
#include "prelude.hpp"

void test(keramos::queue& q, double* sum) {
  q.parallel_for(
      "broken", keramos::range{8}, keramos::reduction(sum, keramos::plus{}),
      KERAMOS_LAMBDA(keramos::index_t i, double s) { s += double(i); });
}

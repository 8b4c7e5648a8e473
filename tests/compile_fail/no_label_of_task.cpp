// expect in one error: the first argument is a label
#include "prelude.hpp"

void test(keramos::queue& q, double* x) {
  q.single_task(KERAMOS_LAMBDA() { *x = 1; });
}

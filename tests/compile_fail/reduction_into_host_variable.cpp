// expect in one error: a reduction's result is where kernels can write it
#include "prelude.hpp"

void test(keramos::queue& q, const double* x) {
  double sum = 0;
  q.parallel_for(
      "broken", keramos::range{8}, keramos::reduction(sum, keramos::plus{}),
      KERAMOS_LAMBDA(keramos::index_t i, double& s) { s += x[i]; });
}

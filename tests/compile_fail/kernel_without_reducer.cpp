// expect in one error: a kernel with reductions takes its index and, for each, T& or reducer
#include "prelude.hpp"

void test(keramos::queue& q, double* sum) {
  q.parallel_for("broken", keramos::range{8}, keramos::reduction(sum, keramos::plus{}),
                 KERAMOS_LAMBDA(keramos::index_t){});
}

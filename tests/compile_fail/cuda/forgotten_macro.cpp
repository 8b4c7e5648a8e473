// expect in one error: nvcc compiles this lambda for the host alone: write KERAMOS_LAMBDA
#include "../prelude.hpp"

void test(keramos::queue& q, double* x) {
  q.parallel_for("broken", keramos::range{8}, [=](keramos::index_t i) { x[i] = 1; });
}

// expect in one error: nvcc compiles this lambda for the host alone: write KERAMOS_LAMBDA
#include "../prelude.hpp"

void test(keramos::queue& q) {
  launch(q, [=](wg& g) { g.barrier(); });
}

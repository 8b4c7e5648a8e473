// expect: takes one index per extent
// A local array takes as many indices as it has extents.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        auto a = g.local<0>();
        a(0, 0) = 1;
      });
}

// expect: asks for an array that the group
// Rule 6: only listed arrays can be had.
#include "prelude.hpp"

void test(keramos::queue& q) {
  launch(
      q, KERAMOS_LAMBDA(wg & g) {
        auto b = g.local<1>();
        b(0) = 1;
      });
}

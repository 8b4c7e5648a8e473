// expect in one error: a kernel over a range takes its id<Rank> or Rank indices
// Two indices, and a range of three dimensions.
#include "prelude.hpp"

void test(keramos::queue& q) {
  q.parallel_for("broken", keramos::range{4, 4, 4}, KERAMOS_LAMBDA(int, int){});
}

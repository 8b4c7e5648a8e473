// expect in one error: a kernel over a range takes its id<Rank> or Rank indices.* not mutable
#include "prelude.hpp"

void test(keramos::queue& q) {
  int count = 0;
  q.parallel_for("broken", keramos::range{4}, [=](keramos::index_t) mutable { ++count; });
}

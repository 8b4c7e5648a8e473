// expect in one error: a kernel over an nd_range takes its nd_item<Rank>
#include "prelude.hpp"

void test(keramos::queue& q) {
  q.parallel_for("broken", keramos::nd_range{keramos::range{8}, keramos::range{4}},
                 KERAMOS_LAMBDA(keramos::id<1>){});
}

// expect: local_extents takes one range for each dynamic array
#include "prelude.hpp"

using dynamic =
    keramos::group<keramos::local_range<8>, keramos::local_memory<keramos::dynamic_local_array<int>>>;

void test(keramos::queue& q) {
  q.parallel_for_work_group<dynamic>(
      "case", keramos::range{1}, KERAMOS_LAMBDA(dynamic & g) { g.barrier(); });
}

// expect in one error: name the group's type
#include "prelude.hpp"

void test(keramos::queue& q) {
  q.parallel_for_work_group("broken", keramos::range{1}, KERAMOS_LAMBDA(wg&){});
}

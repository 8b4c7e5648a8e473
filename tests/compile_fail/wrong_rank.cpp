// expect: the range of work-groups and the local_range differ in dimensions
#include <keramos/keramos.hpp>

void kernel(keramos::queue& q) {
  using wg = keramos::group<keramos::local_range<8>>;
  q.parallel_for_work_group<wg>("broken", keramos::range{1, 1}, KERAMOS_LAMBDA(wg&){});
}

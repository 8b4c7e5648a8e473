// expect in one error: its arguments are a label, the range of groups
#include "prelude.hpp"

void test(keramos::queue& q) { q.parallel_for_work_group<wg>(keramos::range{1}, KERAMOS_LAMBDA(wg&){}); }

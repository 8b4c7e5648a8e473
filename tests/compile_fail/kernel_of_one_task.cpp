// expect in one error: a single_task's kernel takes nothing
#include "prelude.hpp"

void test(keramos::queue& q) { q.single_task("broken", KERAMOS_LAMBDA(keramos::id<1>){}); }

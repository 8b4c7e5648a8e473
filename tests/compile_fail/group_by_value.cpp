// expect in one error: a work-group kernel takes its group by reference
#include "prelude.hpp"

void test(keramos::queue& q) { launch(q, KERAMOS_LAMBDA(wg){}); }

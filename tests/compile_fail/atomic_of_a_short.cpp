// expect: atomic_ref takes integers, floating-point numbers and pointers of 4 or 8 bytes
#include "prelude.hpp"

void test(short& x) { keramos::atomic_ref<short> a(x); }

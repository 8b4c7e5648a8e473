// expect: a read_only accessor needs the contents; drop no_init
#include "prelude.hpp"

void test(keramos::queue& q, keramos::buffer<int>& b) {
  keramos::accessor a(b, q, keramos::read_only, keramos::no_init);
  (void)a;
}

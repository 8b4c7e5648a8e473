// expect: the host cannot access device memory
#include "prelude.hpp"

int test(keramos::queue& q) {
  keramos::device_array<int> a(10, q);
  return a[0];
}

// expect: (no matching function|constraints)
#include "prelude.hpp"

struct own {
  int operator()(int a, int b) const { return a < b ? a : b; }
};
auto test(int* p) { return keramos::reduction(p, own{}); }

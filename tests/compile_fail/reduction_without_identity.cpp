// expect in one error: the operator does not tell its identity
#include "prelude.hpp"

struct own {
  int operator()(int a, int b) const { return a < b ? a : b; }
};
auto test(int* p) { return keramos::reduction(p, own{}); }

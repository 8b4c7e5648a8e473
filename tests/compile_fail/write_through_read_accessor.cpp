// expect: (read-only|must be a modifiable lvalue|const)
#include "prelude.hpp"

void test(keramos::queue& q, keramos::accessor<int, 1, keramos::access_mode::read> a) {
  q.parallel_for(
      "case", keramos::range{4}, KERAMOS_LAMBDA(keramos::index_t i) { a[i] = 1; });
}

// expect: C is written, so its elements must not be const
#include <keramos/keramos.hpp>

void product(keramos::queue& q, keramos::matrix_view<float> a, keramos::matrix_view<const float> c) {
  keramos::gemm(q, 1, a, a, 0, c);
}

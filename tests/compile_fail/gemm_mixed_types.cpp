// expect: no product of these element types is known
#include <keramos/keramos.hpp>

void product(keramos::queue& q, keramos::matrix_view<float> a, keramos::matrix_view<double> b) {
  keramos::gemm(q, 1, a, b, 0, b);
}

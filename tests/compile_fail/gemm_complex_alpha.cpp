// expect: alpha or beta is complex, but the matrices are not
#include <complex>

#include <keramos/keramos.hpp>

void product(keramos::queue& q, keramos::matrix_view<float> a) {
  keramos::gemm(q, std::complex<float>(0, 1), a, a, 0, a);
}

// expect: C is written, so its elements must not be const
#include <keramos/keramos.hpp>

void product(keramos::queue& q, keramos::batched_matrix_view<float> a,
             keramos::batched_matrix_view<const float> c) {
  keramos::gemm_batched(q, 1, a, a, 0, c);
}

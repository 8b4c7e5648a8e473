// expect: KERAMOS_TYPES left the product of these element types out
#include <keramos/products.hpp>

// As CMake writes it with KERAMOS_TYPES=f64.
#undef KERAMOS_FOR_EACH_PRODUCT
#define KERAMOS_FOR_EACH_PRODUCT(X, Space) X(f64, Space)

#include <keramos/keramos.hpp>

void has(keramos::queue& q, keramos::matrix_view<double> a) { keramos::gemm(q, 1, a, a, 0, a); }
void has_not(keramos::queue& q, keramos::matrix_view<float> a) { keramos::gemm(q, 1, a, a, 0, a); }

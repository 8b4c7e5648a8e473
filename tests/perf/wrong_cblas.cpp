// A CBLAS that does row-major products without transposes (of f32, f64, c32, and bf16 to f32), right but for one element
// of C, and of c64, where it transposes A but does not conjugate. With 666 rows and 7 columns it dies, with 667 rows it takes an hour, with 668 rows the 21st call never ends. Where
// the variable WRONG_CBLAS_HANGS is set, already loading it never ends.
#include <unistd.h>

#include <complex>
#include <cstddef>
#include <cstdlib>

namespace {

[[noreturn]] void hang() {
  for (;;) pause();
}

[[gnu::constructor]] void load() {
  if (std::getenv("WRONG_CBLAS_HANGS") != nullptr) hang();
}

// The upper half of a float.
struct bf16 {
  unsigned short bits;
  operator float() const { return __builtin_bit_cast(float, unsigned(bits) << 16); }
};

template <class AB, class T>
void right_product(int m, int n, int k, T alpha, const AB* a, int row_of_a, int col_of_a, const AB* b,
                   int ldb, T beta, T* c, int ldc) {
  if (m == 666 && n == 7) std::abort();
  if (m == 667) sleep(3600);
  static int calls_of_668 = 0;
  if (m == 668 && ++calls_of_668 > 20) hang();
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] = beta == T(0) ? T(0) : beta * c[i * ldc + j];
    for (std::ptrdiff_t p = 0; p < k; ++p) {
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        c[i * ldc + j] += alpha * a[i * row_of_a + p * col_of_a] * b[p * ldb + j];
      }
    }
  }
}

template <class AB, class T>
void product(int m, int n, int k, T alpha, const AB* a, int lda, const AB* b, int ldb, T beta, T* c,
             int ldc) {
  right_product(m, n, k, alpha, a, lda, 1, b, ldb, beta, c, ldc);
  c[(m - 2) * std::ptrdiff_t(ldc) + 1] += T(2);
}

using c32 = std::complex<float>;
using c64 = std::complex<double>;

}  // namespace

extern "C" {

void cblas_sgemm(int, int, int, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
                 int ldb, float beta, float* c, int ldc) {
  product(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm(int, int, int, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
                 int ldb, double beta, double* c, int ldc) {
  product(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_cgemm(int, int, int, int m, int n, int k, const c32* alpha, const c32* a, int lda, const c32* b,
                 int ldb, const c32* beta, c32* c, int ldc) {
  product(m, n, k, *alpha, a, lda, b, ldb, *beta, c, ldc);
}

void cblas_zgemm(int, int op_a, int, int m, int n, int k, const c64* alpha, const c64* a, int lda,
                 const c64* b, int ldb, const c64* beta, c64* c, int ldc) {
  const bool plain = op_a == 111;
  right_product(m, n, k, *alpha, a, plain ? lda : 1, plain ? 1 : lda, b, ldb, *beta, c, ldc);
}

void cblas_sbgemm(int, int, int, int m, int n, int k, float alpha, const bf16* a, int lda, const bf16* b,
                  int ldb, float beta, float* c, int ldc) {
  product(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char* openblas_get_config() { return "WrongBLAS 1.0"; }
}

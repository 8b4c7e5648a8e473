// A CBLAS that does row-major products without transposes (of f32, f64, and bf16 to f32), right but for one element of
// C. With 666 rows and 7 columns it dies, with 667 rows it takes an hour, with 668 rows the 21st call never ends. Where
// the variable WRONG_CBLAS_HANGS is set, already loading it never ends.
#include <unistd.h>

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
void product(int m, int n, int k, T alpha, const AB* a, int lda, const AB* b, int ldb, T beta, T* c,
             int ldc) {
  if (m == 666 && n == 7) std::abort();
  if (m == 667) sleep(3600);
  static int calls_of_668 = 0;
  if (m == 668 && ++calls_of_668 > 20) hang();
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    for (std::ptrdiff_t p = 0; p < k; ++p) {
      for (std::ptrdiff_t j = 0; j < n; ++j) {
        c[i * ldc + j] += alpha * a[i * lda + p] * b[p * ldb + j];
      }
    }
  }
  c[(m - 2) * std::ptrdiff_t(ldc) + 1] += T(2);
}

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

void cblas_sbgemm(int, int, int, int m, int n, int k, float alpha, const bf16* a, int lda, const bf16* b,
                  int ldb, float beta, float* c, int ldc) {
  product(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

const char* openblas_get_config() { return "WrongBLAS 1.0"; }
}

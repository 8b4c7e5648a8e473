// A right CBLAS for row-major products without transposes that wastes as many percent of its time as
// SLOW_CBLAS_PERCENT says (default 0): a slowdown of known size for tests of keramos-perf compare.
#include <time.h>

#include <cstddef>
#include <cstdlib>

namespace {

// Of this thread's CPU time: beside other work a slower library needs more of that, as this one does.
double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

double wasted_part() {
  const char* const percent = std::getenv("SLOW_CBLAS_PERCENT");
  return percent == nullptr ? 0 : std::atof(percent) / 100;
}

template <class T>
void product(int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  static const double part = wasted_part();
  const double start = cpu_seconds();
  for (std::ptrdiff_t i = 0; i < m; ++i) {
    for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];
    for (std::ptrdiff_t p = 0; p < k; ++p) {
      for (std::ptrdiff_t j = 0; j < n; ++j) c[i * ldc + j] += alpha * a[i * lda + p] * b[p * ldb + j];
    }
  }
  const double end = cpu_seconds();
  while (cpu_seconds() < end + part * (end - start)) continue;
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

const char* openblas_get_config() { return "SlowBLAS 1.0"; }
}

// A ScaLAPACK with one wrong element in the results of pdgemm_, for the tests of keramos-perf distributed. The rest is the
// real library's, which it is linked with.
#include <dlfcn.h>

extern "C" {
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);

void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta, double* c,
             const int* ic, const int* jc, const int* descc) {
  const auto real = reinterpret_cast<decltype(&pdgemm_)>(dlsym(RTLD_NEXT, "pdgemm_"));
  real(transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb, descb, beta, c, ic, jc, descc);
  int rows, cols, row, col;
  Cblacs_gridinfo(descc[1], &rows, &cols, &row, &col);
  if (row == rows - 1 && col == cols - 1) c[0] += 1e-9;
}
}

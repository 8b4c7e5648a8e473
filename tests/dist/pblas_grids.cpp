// p?gemm_ on grids that are not the ranks in their order: a column-major one, one of some ranks turned round, and one that
// gets the number of a context that was given back. Conjugation, scalars, sub-matrices, empty products, and what is left to
// ScaLAPACK: complex numbers that are aligned as their parts are, and a product for which memory is too little. With an argument:
// how a job ends by a mistake of one process.
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using complex = std::complex<double>;
extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridmap(int* context, int* ranks, int leading, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int goes_on);
void pzgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const complex* alpha, const complex* a, const int* ia, const int* ja, const int* desca,
             const complex* b, const int* ib, const int* jb, const int* descb, const complex* beta,
             complex* c, const int* ic, const int* jc, const int* descc);
}

namespace {

complex element(int which, int i, int j) {
  return {double((which * 7 + i * 3 + j * 5) % 11 - 5), double((which + i * 2 + j) % 7 - 3)};
}

/// A rows x cols matrix in blocks of 3 x 2 from process (0, 0) on.
struct cyclic {
  int rows, cols, which, grid_rows, grid_cols, row, col;
  std::vector<double> memory;
  complex* data;
  int desc[9];

  static int held(int n, int block, int process, int processes) {
    int count = 0;
    for (int i = 0; i < n; ++i) count += i / block % processes == process;
    return count;
  }
  /// `shift`: numbers of 8 bytes that stand before it.
  cyclic(int m, int n, int w, int context, int shift = 0) : rows(m), cols(n), which(w) {
    Cblacs_gridinfo(context, &grid_rows, &grid_cols, &row, &col);
    const int leading = held(rows, 3, row, grid_rows) + 2;
    memory.resize(std::size_t(2 * leading) * std::size_t(held(cols, 2, col, grid_cols)) + 2);
    data = reinterpret_cast<complex*>(memory.data() + shift);
    const int entries[] = {1, context, rows, cols, 3, 2, 0, 0, leading};
    std::copy(entries, entries + 9, desc);
    each([&](int i, int j, complex& x) { x = element(which, i, j); });
  }
  template <class F>
  void each(const F& f) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        if (i / 3 % grid_rows == row && j / 2 % grid_cols == col)
          f(i, j, data[i / 3 / grid_rows * 3 + i % 3 + (j / 2 / grid_cols * 2 + j % 2) * desc[8]]);
  }
};

/// C(1:, 2:) <- alpha A^H B(3:, :) + beta C(1:, 2:) on a grid; how many elements of this process are wrong.
int wrong_on(int context, int shift) {
  const int m = 10, n = 9, k = 13;
  cyclic a(k, m, 1, context), b(k + 3, n, 2, context), c(m + 1, n + 2, 3, context, shift);
  alignas(16)
      const double scalars[] = {0, 2, 1, -1, 3};  // behind the first, as Fortran may lay complex numbers
  const auto *at_alpha = reinterpret_cast<const complex*>(scalars + 1),
             *at_beta = reinterpret_cast<const complex*>(scalars + 3);
  const complex alpha = *at_alpha, beta = *at_beta;
  const int one = 1, two = 2, three = 3, four = 4, none = 0;
  pzgemm_("C", "n", &m, &n, &k, at_alpha, a.data, &one, &one, a.desc, b.data, &four, &one, b.desc, at_beta,
          c.data, &two, &three, c.desc);
  // Nothing to do, with a B of which nothing is looked at.
  pzgemm_("C", "n", &m, &none, &k, &alpha, a.data, &one, &one, a.desc, b.data, &four, &one, b.desc, &beta,
          c.data, &two, &three, c.desc);
  int wrong = 0;
  c.each([&](int i, int j, const complex& x) {
    complex right = element(3, i, j);
    if (i >= 1 && j >= 2) {
      complex sum = 0;
      for (int l = 0; l < k; ++l) sum += std::conj(element(1, l, i - 1)) * element(2, l + 3, j - 2);
      right = alpha * sum + beta * right;
    }
    wrong += x != right;
  });
  return wrong;
}

/// Something is wrong with a call on one process, which is not the first of the grid: the job ends, and says why.
int end_by(const char* mistake) {
  int context, rows, cols, row, col;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 3);
  Cblacs_gridinfo(context, &rows, &cols, &row, &col);
  const bool is_last = row == 1 && col == 2;
  if (is_last && mistake == std::string("memory")) setenv("KERAMOS_PBLAS_MEMORY", "much", 1);
  const int one = 1, n = 9;
  const complex alpha(is_last && mistake == std::string("alpha") ? 2 : 1), beta(0);
  cyclic a(n, n, 1, context), b(n, n, 2, context), c(n, n, 3, context);
  pzgemm_("N", "N", &n, &n, &n, &alpha, a.data, &one, &one, a.desc, b.data, &one, &one, b.desc, &beta, c.data,
          &one, &one, c.desc);
  std::puts("the job goes on");
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1) return end_by(argv[1]);
  int wrong = 0, grids = 0;
  const auto check = [&](int context, int shift = 0) {
    if (context < 0) return;
    int rows, cols, row, col;
    Cblacs_gridinfo(context, &rows, &cols, &row, &col);
    if (row < 0 || row >= rows || col >= cols) return;
    wrong += wrong_on(context, shift), ++grids;
    Cblacs_gridexit(context);
  };
  int context;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Column", 3, 2);
  check(context);
  for (std::vector<int> ranks : {std::vector<int>{5, 3, 1, 0}, {0, 1, 3, 5}, {2, 4, 5, 1}}) {
    Cblacs_get(-1, 0, &context);
    Cblacs_gridmap(&context, ranks.data(), 2, 2, 2);
    check(context);
  }
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 3);
  check(context, 1);
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "Row", 2, 3);
  setenv("KERAMOS_PBLAS_MEMORY", "100", 1);
  check(context);
  int mine[2] = {wrong, grids}, all[2], rank;
  MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Cblacs_exit(0);
  if (rank == 0) std::printf("%d processes in grids, %d elements wrong\n", all[1], all[0]);
  return all[0] == 0 && all[1] == 6 + 3 * 4 + 2 * 6 ? 0 : 1;
}

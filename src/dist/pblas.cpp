// libkeramos_pblas.so: ScaLAPACK's p?gemm_ by keramos::dist::gemm. It stands before ScaLAPACK, by LD_PRELOAD or on the link
// line, and uses its BLACS. Calls that are not legal, for which memory is too little, of complex numbers that are not
// aligned to their size, or in a context that BLACS does not know, are left to ScaLAPACK's routine of the same name, which
// reports them as always.
#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <keramos/core/runtime.hpp>
#include <keramos/dist/dist.hpp>

extern "C" {  // of BLACS
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cigsum2d(int context, const char* scope, const char* topology, int m, int n, int* a, int lda, int row,
              int col);
}

namespace keramos::dist {
namespace {

/// Kokkos, the communicators of grids, and counts, from the first call until MPI_Finalize.
struct state {
  keramos::runtime runtime;
  std::map<std::vector<int>, std::unique_ptr<communicator>>
      of_ranks;  // of MPI_COMM_WORLD, by rows of the grid
  long products = 0, left_to_scalapack = 0;

  ~state() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0 && std::getenv("KERAMOS_PBLAS_REPORT"))
      std::fprintf(stderr, "keramos_pblas: rank 0 made %ld products with Keramos and left %ld to ScaLAPACK\n",
                   products, left_to_scalapack);
  }
  static state& get() {
    static state* one = nullptr;
    if (!one) {
      one = new state;
      // MPI_Finalize first deletes what hangs on MPI_COMM_SELF; communicators can still be freed then.
      const auto end = [](MPI_Comm, int, void*, void*) {
        delete one;
        one = nullptr;
        return MPI_SUCCESS;
      };
      int key = MPI_KEYVAL_INVALID;
      MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end, &key, nullptr);
      MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr);
    }
    return *one;
  }
  /// Ranks as the grid has them row by row. A context may be given back and its number be used again for another grid;
  /// ranks are what they are.
  communicator& communicator_of(const std::vector<int>& ranks) {
    auto& made = of_ranks[ranks];
    if (!made) {
      MPI_Group world, members;
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_group(MPI_COMM_WORLD, &world);
      MPI_Group_incl(world, int(ranks.size()), ranks.data(), &members);
      MPI_Comm_create_group(MPI_COMM_WORLD, members, 0, &comm);
      made = std::make_unique<communicator>(comm);
      MPI_Comm_free(&comm);
      MPI_Group_free(&members);
      MPI_Group_free(&world);
    }
    return *made;
  }
};

struct blacs_grid {
  int rows = -1, cols = -1, row = -1, col = -1;
  explicit blacs_grid(int context) { Cblacs_gridinfo(context, &rows, &cols, &row, &col); }
};

/// Rows, or columns, as a descriptor gives them: a first block of its own size, and a source of -1 for an axis of which every
/// process of the grid has all.
struct axis_entries {
  int extent = 0, first_block = 0, block = 0, source = 0;

  bool is_legal(int processes) const {
    return extent >= 0 && first_block >= 1 && block >= 1 && source >= -1 && source < processes;
  }
  bool is_copied() const { return source == -1; }
  layout::axis axis(int processes) const {
    layout::axis a;
    a.processes = processes;
    std::vector<index_t> held(std::size_t(processes), 0);
    for (index_t begin = 0, b = 0, length; begin < extent; begin += length, ++b) {
      length = is_copied() ? extent : std::min<index_t>(b == 0 ? first_block : block, extent - begin);
      const auto process = std::size_t(is_copied() ? 0 : (source + b) % processes);
      a.begin.push_back(begin + length);
      a.at.push_back(held[process]);
      a.process.push_back(int(process));
      held[process] += length;
    }
    return a;
  }
  /// How many lie on a process.
  index_t held_by(int process, const layout::axis& a) const {
    if (is_copied()) return extent;
    index_t sum = 0;
    for (std::size_t b = 0; b < a.at.size(); ++b)
      if (a.process[b] == process) sum += a.begin[b + 1] - a.begin[b];
    return sum;
  }
};

/// An argument of p?gemm_: rows x cols of a matrix, from (i, j) on, which count from 0.
template <class T>
class operand {
 public:
  operand(T* data, const int* i, const int* j, const int* d, index_t rows, index_t cols)
      : data_(data), i_(index_t(*i) - 1), j_(index_t(*j) - 1), rows_(rows), cols_(cols), context_(d[1]) {
    is_known_ = d[0] == 1 || d[0] == 2;
    const int* const blocks = d + (d[0] == 2 ? 6 : 4);  // of type 1 all blocks are alike
    by_row_ = {d[2], d[4], blocks[0], blocks[2]};
    by_col_ = {d[3], d[5], blocks[1], blocks[3]};
    leading_ = blocks[4];
  }

  bool is_legal(const blacs_grid& grid, int context) const {
    if (!is_known_ || context_ != context || !by_row_.is_legal(grid.rows) || !by_col_.is_legal(grid.cols) ||
        i_ < 0 || j_ < 0 || rows_ < 0 || cols_ < 0 || leading_ < 1)
      return false;
    if (is_empty()) return true;
    // Fortran's complex numbers are aligned as their parts are; those of keramos::dist as a whole.
    if (reinterpret_cast<std::uintptr_t>(data_) % sizeof(T) != 0) return false;
    if (i_ + rows_ > by_row_.extent || j_ + cols_ > by_col_.extent) return false;
    return leading_ >= by_row_.held_by(grid.row, by_row_.axis(grid.rows)) ||
           by_col_.held_by(grid.col, by_col_.axis(grid.cols)) == 0;
  }

  /// Where the processes have copies, that of process row `row` or column `col`.
  matrix<T> get(const blacs_grid& grid, int row = 0, int col = 0) const {
    if (is_empty()) return {layout::on_rank(rows_, cols_, 0), std::vector<matrix_view<T>>()};
    layout::tables t;
    t.rows = by_row_.axis(grid.rows), t.cols = by_col_.axis(grid.cols);
    const index_t rows = by_row_.held_by(grid.row, t.rows), cols = by_col_.held_by(grid.col, t.cols);
    for (int p = 0; p < grid.rows; ++p)
      for (int q = 0; q < grid.cols; ++q)
        t.rank.push_back((by_row_.is_copied() ? (p + row) % grid.rows : p) * grid.cols +
                         (by_col_.is_copied() ? (q + col) % grid.cols : q));
    t.part.assign(t.rank.size(), 0);
    const index_t leading = std::max<index_t>(leading_, rows);
    const auto part = matrix_view<T>::column_major(reachable(rows, cols, leading), rows, cols, leading);
    return matrix<T>(layout(std::move(t)), part).sub(i_, j_, rows_, cols_);
  }
  /// What a product has written, where the caller sees it.
  void give_back() const {
    if (copy_.extent(0) > 0) Kokkos::deep_copy(host_view(data_, copy_.extent(0)), copy_);
  }
  /// In how many process rows and columns there are copies.
  int row_copies(const blacs_grid& grid) const { return by_row_.is_copied() ? grid.rows : 1; }
  int col_copies(const blacs_grid& grid) const { return by_col_.is_copied() ? grid.cols : 1; }

 private:
  using space = communicator::execution_space;
  using element = std::remove_const_t<T>;

  bool is_empty() const { return rows_ == 0 || cols_ == 0; }
  static auto host_view(T* data, std::size_t size) {
    return Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(data, size);
  }
  /// The part itself, or a copy of it where kernels do not reach the host's memory.
  T* reachable(index_t rows, index_t cols, index_t leading) const {
    if (Kokkos::SpaceAccessibility<space, Kokkos::HostSpace>::accessible || rows == 0 || cols == 0)
      return data_;
    if (copy_.extent(0) == 0) {
      copy_ = Kokkos::View<element*, space>("keramos::pblas", std::size_t(leading * (cols - 1) + rows));
      Kokkos::deep_copy(copy_, host_view(data_, copy_.extent(0)));
    }
    return copy_.data();
  }

  T* data_;
  index_t i_, j_, rows_, cols_;
  int context_;
  bool is_known_;
  axis_entries by_row_, by_col_;
  index_t leading_;
  mutable Kokkos::View<element*, space> copy_;
};

/// Whether all processes of the grid can take the call, and if so their ranks, row by row.
bool all_take(const blacs_grid& grid, int context, bool takes, std::vector<int>& ranks) {
  const int count = grid.rows * grid.cols;
  std::vector<int> sums(std::size_t(count) + 1, 0);
  MPI_Comm_rank(MPI_COMM_WORLD, &sums[std::size_t(grid.row * grid.cols + grid.col)]);
  sums.back() = takes ? 1 : 0;
  Cigsum2d(context, "All", " ", count + 1, 1, sums.data(), count + 1, -1, -1);
  ranks.assign(sums.begin(), sums.end() - 1);
  return sums.back() == count;
}

char upper(char c) { return c >= 'a' && c <= 'z' ? char(c - 'a' + 'A') : c; }
bool is_op(char c) { return c == 'N' || c == 'T' || c == 'C'; }

/// Bytes that a rank may allocate for a product.
index_t memory_limit() {
  const char* const text = std::getenv("KERAMOS_PBLAS_MEMORY");
  if (text == nullptr) return unlimited_memory;
  char* end = nullptr;
  const long long bytes = std::strtoll(text, &end, 10);
  if (end == text || *end != '\0' || bytes < 0)
    throw invalid_argument("KERAMOS_PBLAS_MEMORY is \"" + std::string(text) +
                           "\", which is no number of bytes");
  return bytes;
}

template <class T>
struct arguments {
  const char *transa, *transb;
  const int *m, *n, *k;
  const T *alpha, *a;
  const int *ia, *ja, *desca;
  const T* b;
  const int *ib, *jb, *descb;
  const T *beta, *c;
  const int *ic, *jc, *descc;
};

/// Ends the job. What all ranks throw the first of the grid says, or another if that one lives on without an error.
[[noreturn]] void end_job(const char* name, const blacs_grid& grid, const char* why) {
  if (grid.row > 0 || grid.col > 0) std::this_thread::sleep_for(std::chrono::seconds(1));
  std::fprintf(stderr, "keramos_pblas: %s: process (%d, %d): %s\n", name, grid.row, grid.col, why);
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// False: the call is ScaLAPACK's.
template <class T>
bool multiply(const char* name, const arguments<T>& x) {
  const int context = x.desca[1];
  const blacs_grid grid(context);
  if (grid.rows < 1) return false;
  const char op_a = upper(*x.transa), op_b = upper(*x.transb);
  const index_t m = *x.m, n = *x.n, k = *x.k;
  const operand<const T> a(x.a, x.ia, x.ja, x.desca, op_a == 'N' ? m : k, op_a == 'N' ? k : m);
  const operand<const T> b(x.b, x.ib, x.jb, x.descb, op_b == 'N' ? k : n, op_b == 'N' ? n : k);
  const operand<T> c(const_cast<T*>(x.c), x.ic, x.jc, x.descc, m, n);
  // After the program's own Kokkos::finalize all is ScaLAPACK's.
  const bool takes = Kokkos::is_initialized() && is_op(op_a) && is_op(op_b) && a.is_legal(grid, context) &&
                     b.is_legal(grid, context) && c.is_legal(grid, context);
  std::vector<int> ranks;
  if (!all_take(grid, context, takes, ranks)) return false;
  if (m == 0 || n == 0) return true;
  bool is_written = false;
  try {
    communicator& comm = state::get().communicator_of(ranks);
    gemm_options options;
    options.op_a = op(op_a), options.op_b = op(op_b), options.memory = memory_limit();
    const auto first = c.get(grid);
    T alpha, beta;  // Fortran aligns complex numbers as their parts
    std::memcpy(&alpha, static_cast<const void*>(x.alpha), sizeof(T));
    std::memcpy(&beta, static_cast<const void*>(x.beta), sizeof(T));
    gemm(comm, alpha, a.get(grid), b.get(grid), beta, first, options);
    is_written = true;
    for (int row = 0; row < c.row_copies(grid); ++row)
      for (int col = 0; col < c.col_copies(grid); ++col)
        if (row + col > 0) redistribute(comm, op::N, first, c.get(grid, row, col), {options.memory});
    c.give_back();
    return true;
  } catch (const memory_error& e) {  // on all ranks
    if (is_written) end_job(name, grid, e.what());
    return false;  // C is as it was
  } catch (const std::exception& e) {
    end_job(name, grid, e.what());
  }
}

using routine = void(const char*, const char*, const int*, const int*, const int*, const void*, const void*,
                     const int*, const int*, const int*, const void*, const int*, const int*, const int*,
                     const void*, void*, const int*, const int*, const int*);

template <class T>
void gemm_or_forward(const char* name, const arguments<T>& x) {
  auto& count = state::get();
  if (multiply(name, x)) {
    ++count.products;
    return;
  }
  ++count.left_to_scalapack;
  auto* const next = reinterpret_cast<routine*>(dlsym(RTLD_NEXT, name));
  if (next == nullptr) {
    std::fprintf(stderr,
                 "keramos_pblas: %s: this call is ScaLAPACK's, but no library behind keramos_pblas has it; "
                 "link ScaLAPACK after it\n",
                 name);
    MPI_Abort(MPI_COMM_WORLD, 1);
    return;
  }
  next(x.transa, x.transb, x.m, x.n, x.k, x.alpha, x.a, x.ia, x.ja, x.desca, x.b, x.ib, x.jb, x.descb, x.beta,
       const_cast<T*>(x.c), x.ic, x.jc, x.descc);
}

}  // namespace
}  // namespace keramos::dist

// Fortran's routines, as C programs call them too.
#define KERAMOS_PBLAS_GEMM(name, T)                                                                         \
  extern "C" KERAMOS_EXPORT void name(                                                                      \
      const char* transa, const char* transb, const int* m, const int* n, const int* k, const T* alpha,     \
      const T* a, const int* ia, const int* ja, const int* desca, const T* b, const int* ib, const int* jb, \
      const int* descb, const T* beta, T* c, const int* ic, const int* jc, const int* descc) {              \
    keramos::dist::gemm_or_forward<T>(#name, {transa, transb, m, n, k, alpha, a, ia, ja, desca, b, ib, jb,  \
                                              descb, beta, c, ic, jc, descc});                              \
  }
KERAMOS_PBLAS_GEMM(psgemm_, float)
KERAMOS_PBLAS_GEMM(pdgemm_, double)
KERAMOS_PBLAS_GEMM(pcgemm_, keramos::complex<float>)
KERAMOS_PBLAS_GEMM(pzgemm_, keramos::complex<double>)

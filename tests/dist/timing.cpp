// How fast products over ranks are: mpirun -n P dist_timing <n> [<n> ...]
// The time of a byte to the next rank, from the call to its end on the host. For f64, f32 and bf16: the time of keramos::gemm on
// one rank and of dist::gemm on all, with operands where the schedule wants them and in ScaLAPACK's layout; bytes received; and
// whether the result is right (Freivalds).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <keramos/dist/dist.hpp>
#include <keramos/keramos.hpp>

#include "transport_given.hpp"

namespace {

using namespace keramos;
using space = default_execution_space;
template <class T>
using local = Kokkos::View<T*, space>;

/// Element (i, j) of matrix `which`, in [-1, 1], as T has it.
template <class T>
KERAMOS_INLINE_FUNCTION T element(int which, index_t i, index_t j) {
  std::uint32_t h =
      std::uint32_t(i) * 2654435761u ^ std::uint32_t(j) * 2246822519u ^ std::uint32_t(which) * 3266489917u;
  h = (h ^ h >> 15) * 2246822519u;
  h = (h ^ h >> 13) * 3266489917u;
  return T(float(int((h ^ h >> 16) % 2001u) - 1000) / 1000.0f);
}
template <class T>
KERAMOS_INLINE_FUNCTION double wide(T x) {
  if constexpr (sizeof(T) == 8)
    return x;
  else
    return double(float(x));
}
KERAMOS_INLINE_FUNCTION double sign(index_t j) { return element<float>(7, j, j) < 0 ? -1.0 : 1.0; }

/// Rows first ... of a matrix of n columns, by rows.
template <class T>
struct fill_rows {
  T* to;
  int which;
  index_t first, n;
  KERAMOS_FUNCTION void operator()(index_t at) const { to[at] = element<T>(which, first + at / n, at % n); }
};
/// to ← rows first ... of matrix `which` times x (or the signs).
template <class T>
struct times_vector {
  double* to;
  int which;
  const double* x;
  index_t first, n;
  KERAMOS_FUNCTION void operator()(index_t i) const {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += wide(element<T>(which, first + i, j)) * (x ? x[j] : sign(j));
    to[i] = sum;
  }
};
/// worst ← errors of rows of C times the signs, in units of what rounding may do.
template <class T>
struct compare_rows {
  const T* c;
  const double* expected;
  double* worst;
  index_t n;
  double of_sums, of_c;  // rounding units
  KERAMOS_FUNCTION void operator()(index_t i) const {
    double sum = 0, size = 0;
    for (index_t j = 0; j < n; ++j) {
      const double x = wide(c[i * n + j]);
      sum += x * sign(j), size += x < 0 ? -x : x;
    }
    const double error = sum - expected[i];
    worst[i] = (error < 0 ? -error : error) / (of_c * size + of_sums * double(n) * double(n));
  }
};

double seconds_of(dist::communicator& comm, const std::function<void()>& call) {
  std::vector<double> times;
  for (int i = 0; i < 6; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto begin = std::chrono::steady_clock::now();
    call();
    comm.queue().wait_and_throw();
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i > 0) times.push_back(seconds);  // the first makes connections and memory
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class T>
class timing {
 public:
  timing(dist::communicator& comm, const char* type, index_t n) : comm_(comm), type_(type), n_(n) {}

  bool run() {
    const double flops = 2.0 * double(n_) * double(n_) * double(n_);
    const double alone = on_one_rank();
    if (comm_.rank() == 0)
      std::printf("%s %lld: one rank %.2f ms (%.1f TFLOP/s)\n", type_, static_cast<long long>(n_),
                  1e3 * alone, 1e-12 * flops / alone);
    const auto s = chosen();
    bool right = on_all_ranks("as the schedule wants", {s.layout_a(), s.layout_b(), s.layout_sums()}, alone);
    int rows = int(std::sqrt(double(comm_.size())));
    while (comm_.size() % rows) --rows;
    const dist::layout blocks = dist::block_cyclic{n_, n_, 512, 512, {rows, comm_.size() / rows}};
    right = on_all_ranks("in blocks of 512, by columns", {blocks, blocks, blocks}, alone) && right;
    return right;
  }

 private:
  static constexpr int bytes = int(sizeof(T));
  static constexpr double unit = bytes == 8 ? 0x1p-53 : bytes == 4 ? 0x1p-24 : 0x1p-8;

  dist::schedule chosen() const {
    return dist::choose_schedule(n_, n_, n_, comm_.size(), {bytes, bytes, std::max(bytes, 4)},
                                 dist::unlimited_memory, keramos::detail::dist_memory_per_link);
  }
  double on_one_rank() {
    const std::size_t size = std::size_t(n_ * n_);
    const local<T> a("A", size), b("B", size), c("C", size);
    comm_.queue().parallel_for("fill", range{n_ * n_}, fill_rows<T>{a.data(), 1, 0, n_});
    comm_.queue().parallel_for("fill", range{n_ * n_}, fill_rows<T>{b.data(), 2, 0, n_});
    return seconds_of(comm_, [&] {
      keramos::gemm(comm_.queue(), 1, matrix_view<const T>::column_major(a.data(), n_, n_),
                    matrix_view<const T>::row_major(b.data(), n_, n_), 0,
                    matrix_view<T>::column_major(c.data(), n_, n_));
    });
  }
  /// This rank's rows, by rows.
  dist::layout in_rows() const {
    std::vector<index_t> splits;
    std::vector<int> owners;
    for (int r = 0; r <= comm_.size(); ++r) splits.push_back(n_ * r / comm_.size());
    for (int r = 0; r < comm_.size(); ++r) owners.push_back(r);
    return dist::layout::grid(splits, {0, n_}, owners);
  }
  index_t first() const { return n_ * comm_.rank() / comm_.size(); }
  index_t rows() const { return n_ * (comm_.rank() + 1) / comm_.size() - first(); }
  dist::matrix<T> rows_in(const local<T>& x) const {
    return {in_rows(), matrix_view<T>::row_major(x.data(), rows(), n_)};
  }

  bool on_all_ranks(const char* how, const std::vector<dist::layout>& layouts, double alone) {
    std::vector<local<T>> memory;
    std::vector<dist::matrix<T>> matrices;
    const local<T> own_rows("rows", std::size_t(rows() * n_));
    for (int which = 0; which < 3; ++which) {
      const auto& l = layouts[std::size_t(which)];
      const auto e = l.part_extents(comm_.rank());
      memory.emplace_back("part", std::size_t(e.rows * e.cols));
      T* const data = memory.back().data();
      const bool by_rows = how[0] == 'a' && (which == 1 || (which == 2 && !chosen().sums_by_columns()));
      matrices.emplace_back(l, by_rows ? matrix_view<T>::row_major(data, e.rows, e.cols)
                                       : matrix_view<T>::column_major(data, e.rows, e.cols));
      comm_.queue().parallel_for("fill", range{rows() * n_},
                                 fill_rows<T>{own_rows.data(), which + 1, first(), n_});
      dist::redistribute(comm_, op::N, rows_in(own_rows), matrices.back());
    }
    dist::gemm_report report;
    const double seconds =
        seconds_of(comm_, [&] { report = dist::gemm(comm_, 1, matrices[0], matrices[1], 0, matrices[2]); });
    std::uint64_t received[] = {std::uint64_t(report.panel_bytes + report.sum_bytes),
                                std::uint64_t(report.redistributed_bytes)},
                  most[2];
    comm_.largest(received, most, 2);
    dist::redistribute(comm_, op::N, matrices[2], rows_in(own_rows));
    const double error = worst_error(own_rows);
    if (comm_.rank() == 0)
      std::printf(
          "  %d ranks, %s: %.2f ms, efficiency %.3f; received %.4g MB, and %.4g MB to redistribute; "
          "grid %d x %d x %d, %d steps; %s, error %.3g of the bound: %s\n",
          comm_.size(), how, 1e3 * seconds, alone / seconds / comm_.size(), 1e-6 * double(most[0]),
          1e-6 * double(most[1]), report.schedule.pm, report.schedule.pn, report.schedule.pk,
          report.schedule.steps(), comm_.transport().name().c_str(), error, error < 1 ? "right" : "WRONG");
    return error < 1;
  }
  /// Of C's rows times a vector of signs: against A (B signs).
  double worst_error(const local<T>& c) {
    auto& q = comm_.queue();
    const local<double> b_signs("Bx", std::size_t(n_)), expected("ABx", std::size_t(rows())),
        worst("worst", std::size_t(rows()));
    q.parallel_for("Bx", range{n_}, times_vector<T>{b_signs.data(), 2, nullptr, 0, n_});
    q.parallel_for("ABx", range{rows()}, times_vector<T>{expected.data(), 1, b_signs.data(), first(), n_});
    q.parallel_for(
        "compare", range{rows()},
        compare_rows<T>{c.data(), expected.data(), worst.data(), n_, bytes == 8 ? 0x1p-53 : 0x1p-24, unit});
    q.wait_and_throw();
    const auto on_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), worst);
    double most = 0;
    for (std::size_t i = 0; i < on_host.extent(0); ++i)
      if (!(on_host(i) <= most)) most = std::isnan(on_host(i)) ? INFINITY : on_host(i);
    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
  }

  dist::communicator& comm_;
  const char* type_;
  index_t n_;
};

void time_a_byte(dist::communicator& comm) {
  const int ranks = comm.size(), next = (comm.rank() + 1) % ranks, before = (comm.rank() + ranks - 1) % ranks;
  if (ranks == 1) return;
  const local<char> bytes("bytes", 2);
  const double seconds = seconds_of(comm, [&] {
    comm.transport().start({{next, bytes.data(), 1}}, {{before, bytes.data() + 1, 1}})->wait();
  });
  if (comm.rank() == 0) std::printf("a byte to the next rank: %.1f us\n", 1e6 * seconds);
}

bool run(const std::vector<index_t>& sizes) {
  dist::communicator comm(MPI_COMM_WORLD, test::options_given());
  time_a_byte(comm);
  bool right = true;
  for (const index_t n : sizes) {
    right = timing<double>(comm, "f64", n).run() && right;
    right = timing<float>(comm, "f32", n).run() && right;
    right = timing<bfloat16>(comm, "bf16", n).run() && right;
    comm.free_memory();
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  bool right = false;
  {
    keramos::runtime guard(argc, argv);
    std::vector<keramos::index_t> sizes;
    for (int i = 1; i < argc; ++i) sizes.push_back(std::stoll(argv[i]));
    right = run(sizes);
  }
  MPI_Finalize();
  return right ? 0 : 1;
}

#include "job.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <type_traits>

#include <keramos/dist/dist.hpp>

#include "cublasmp.hpp"
#include "freivalds.hpp"
#include "matrices.hpp"
#include "measure/core/cblas_library.hpp"
#include "measure/core/visit_type.hpp"
#include "measure/device/op.hpp"
#include "on_all_ranks.hpp"
#include "scalapack.hpp"

namespace keramos::perf {
namespace {

// As visit_type, for the types that --type takes.
template <class F>
void visit_type_over_ranks(data_type type, const F& f) {
  switch (type) {
    case data_type::f64:
      return f(elements<double>());
    case data_type::c32:
      return f(elements<complex<float>>());
    case data_type::c64:
      return f(elements<complex<double>>());
    case data_type::f16:
      return f(elements<float16>());
    case data_type::f16_f32:
      return f(elements<float16, float16, float>());
    case data_type::bf16:
      return f(elements<bfloat16>());
    case data_type::bf16_f32:
      return f(elements<bfloat16, bfloat16, float>());
    default:
      return f(elements<float>());
  }
}

const scalapack_library& loaded_scalapack(const std::string& path) {
  static std::map<std::string, scalapack_library> loaded;
  const auto found = loaded.find(path);
  return found != loaded.end() ? found->second : loaded.emplace(path, scalapack_library(path)).first->second;
}

double largest(double x, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAX, comm);
  return x;
}

// One case on the ranks that make it.
template <class Types>  // elements<...>
class measurement {
  using A = typename Types::a;
  using B = typename Types::b;
  using C = typename Types::c;
  using real = sum_t<A>;
  using scalar = std::conditional_t<keramos::detail::is_complex<C>, C, real>;  // alpha and beta

 public:
  measurement(const distributed_case& c, const distributed_run& run, MPI_Comm mpi)
      : c_(c),
        g_(c.problem),
        run_(run),
        comm_(mpi),
        a_(rows_of(g_.op_a, g_.m, g_.k), rows_of(g_.op_a, g_.k, g_.m), c, comm_.rank(), run.seed, 1),
        b_(rows_of(g_.op_b, g_.k, g_.n), rows_of(g_.op_b, g_.n, g_.k), c, comm_.rank(), run.seed, 2),
        c_matrix_(g_.m, g_.n, c, comm_.rank(), run.seed, 3) {}

  std::vector<distributed_result> operator()() {
    std::vector<subject> subjects;
    for (const auto& provider : run_.providers) subjects.push_back(made(provider));
    distributed_check<Types> check(g_, comm_.mpi(), run_.seed);
    check.expect(a_, b_, c_matrix_);
    int rounds = 0;
    for (auto& s : subjects) {
      if (!s.call) continue;
      verify(s, check);
      rounds = std::max(rounds, s.repetitions);
    }
    for (int round = 0; round < rounds; ++round)
      for (auto& s : subjects)
        if (round < s.repetitions) s.result.samples.push_back(timed(s));
    for (auto& s : subjects)
      if (run_.timeline && s.result.provider == "keramos" && !s.result.samples.empty())
        s.result.timeline = recorded();
    std::vector<distributed_result> results;
    for (auto& s : subjects) results.push_back(std::move(s.result));
    return results;
  }

 private:
  struct subject {
    distributed_result result;
    std::function<void()> call;
    int repetitions = 0;
  };
  static std::int64_t rows_of(transpose op, std::int64_t rows, std::int64_t cols) {
    return op == transpose::N ? rows : cols;
  }
  subject made(const std::string& provider) {
    subject s;
    s.result.provider = provider;
    if (provider == "keramos") {
      s.call = [this] { call_keramos(); };
      return s;
    }
    try {
      if (provider == "cublasmp") {
        cublasmp_ = make_cublasmp(c_, comm_, for_cublasmp(a_), for_cublasmp(b_), for_cublasmp(c_matrix_));
        s.call = [this] { (*cublasmp_)(); };
        return s;
      }
      on_all_ranks(comm_.mpi(), [this] {
        require_scalapack_type(g_.type);
        scalapack_ = &loaded_scalapack(run_.scalapack);
        scalapack_gemm_ = scalapack_->gemm_of(g_.type);
      });
      grid_ = std::make_unique<scalapack_library::grid>(*scalapack_, comm_.mpi(), c_.grid_rows, c_.grid_cols);
      s.call = [this] { call_scalapack(); };
    } catch (const unavailable_error& e) {  // on all ranks
      s.result.reason = e.what();
    }
    return s;
  }
  template <class T>
  static cublasmp_matrix for_cublasmp(const dealt_matrix<T>& x) {
    return {x.blocks.rows, x.blocks.cols, x.device.data(), x.leading};
  }

  void call_keramos(std::vector<dist::interval>* timeline = nullptr) {
    dist::gemm_options options;
    options.op_a = op_of(g_.op_a), options.op_b = op_of(g_.op_b);
    options.memory = c_.memory;
    options.timeline = timeline;
    report_ = dist::gemm(comm_, scalar(real(g_.alpha)), a_.over_ranks(), b_.over_ranks(),
                         scalar(real(g_.beta)), c_matrix_.over_ranks(), options);
  }
  void call_scalapack() {
    const auto a = a_.descriptor(grid_->context()), b = b_.descriptor(grid_->context()),
               c = c_matrix_.descriptor(grid_->context());
    const int m = int(g_.m), n = int(g_.n), k = int(g_.k), one = 1;
    const scalar alpha(real(g_.alpha)), beta(real(g_.beta));
    scalapack_gemm_(name(g_.op_a).data(), name(g_.op_b).data(), &m, &n, &k, &alpha, a_.host.data(), &one,
                    &one, a.data(), b_.host.data(), &one, &one, b.data(), &beta, c_matrix_.host.data(), &one,
                    &one, c.data());
  }

  // The slowest rank's seconds. If one fails, all throw error.
  double timed(const subject& s) {
    MPI_Barrier(comm_.mpi());
    const double start = MPI_Wtime();
    std::exception_ptr failed;
    try {
      s.call();
    } catch (const dist::communication_error&) {
      throw;
    } catch (const error&) {
      failed = std::current_exception();
    }
    const double seconds = largest(failed ? HUGE_VAL : MPI_Wtime() - start, comm_.mpi());
    if (failed) std::rethrow_exception(failed);
    if (seconds == HUGE_VAL) throw error("another rank has failed");
    return seconds;
  }
  // Rank 0 has all of it.
  timeline_of_ranks recorded() {
    std::vector<dist::interval> own, all;
    MPI_Barrier(comm_.mpi());
    call_keramos(&own);
    static_assert(std::is_trivially_copyable_v<dist::interval>);
    const int bytes = int(own.size() * sizeof(dist::interval)), ranks = comm_.rank() == 0 ? comm_.size() : 0;
    std::vector<int> counts(std::size_t(ranks), 0), at(std::size_t(ranks) + 1, 0);
    MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, comm_.mpi());
    for (std::size_t r = 0; r < counts.size(); ++r) at[r + 1] = at[r] + counts[r];
    all.resize(std::size_t(at.back()) / sizeof(dist::interval));
    MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), at.data(), MPI_BYTE, 0, comm_.mpi());
    timeline_of_ranks timeline;
    for (std::size_t r = 0; r < counts.size(); ++r)
      timeline.emplace_back(all.begin() + at[r] / int(sizeof(dist::interval)),
                            all.begin() + at[r + 1] / int(sizeof(dist::interval)));
    return timeline;
  }
  // The first call, whose C was not to be read if beta is 0.
  void verify(subject& s, const distributed_check<Types>& check) {
    if (g_.beta == 0)
      c_matrix_.fill(C(std::numeric_limits<reference::part_t<C>>::quiet_NaN()));
    else
      c_matrix_.fill();
    try {
      const double once = timed(s);
      s.repetitions = repetitions_within(run_.time_limit_s, once, run_.repetitions);
      if (s.result.provider != "scalapack") Kokkos::deep_copy(c_matrix_.host, c_matrix_.device);
      s.result.check = check(c_matrix_);
      s.result.status = s.result.check.passed ? outcome::verified : outcome::mismatch;
      if (s.result.provider == "keramos") count(s.result);
    } catch (const dist::communication_error&) {
      throw;
    } catch (const error& e) {  // on all ranks
      s.result.status = outcome::failed;
      s.result.reason = e.what();
    }
  }
  void count(distributed_result& result) const {
    const auto& s = report_.schedule;
    const std::int64_t received = report_.panel_bytes + report_.sum_bytes;
    const bool differs = received != s.panel_bytes(comm_.rank()) + s.sum_bytes(comm_.rank());
    double most[] = {double(report_.redistributed_bytes), double(received), double(report_.memory),
                     differs ? 1.0 : 0.0};
    double all = double(report_.redistributed_bytes + received);
    MPI_Allreduce(MPI_IN_PLACE, most, 4, MPI_DOUBLE, MPI_MAX, comm_.mpi());
    MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_DOUBLE, MPI_SUM, comm_.mpi());
    distributed_traffic t;
    t.schedule_grid = std::to_string(s.pm) + "x" + std::to_string(s.pn) + "x" + std::to_string(s.pk);
    t.transport = comm_.transport().name();
    t.redistributed = most[0], t.received = most[1], t.memory = most[2], t.received_by_all = all;
    t.scheduled = double(s.volume()), t.touched = s.touched(), t.bound = s.touched_bound();
    result.traffic = t;
    if (most[3] == 0 && t.received == t.scheduled) return;
    result.status = outcome::failed;
    result.reason = "a rank has received other bytes than its schedule says";
  }

  const distributed_case& c_;
  const gemm_case& g_;
  const distributed_run& run_;
  dist::communicator comm_;
  dealt_matrix<A> a_;
  dealt_matrix<B> b_;
  dealt_matrix<C> c_matrix_;
  dist::gemm_report report_;
  const scalapack_library* scalapack_ = nullptr;
  scalapack_library::gemm_function* scalapack_gemm_ = nullptr;
  std::unique_ptr<scalapack_library::grid> grid_;
  std::unique_ptr<cublasmp_product> cublasmp_;
};

}  // namespace

struct distributed_job::state {
  int rank = 0, size = 1;
};

distributed_job::distributed_job(int& argc, char** argv) : state_(std::make_unique<state>()) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &state_->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &state_->size);
}
distributed_job::~distributed_job() { MPI_Finalize(); }

int distributed_job::rank() const { return state_->rank; }
int distributed_job::size() const { return state_->size; }
int distributed_job::nodes() const {
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int rank = 0;
  MPI_Comm_rank(node, &rank);
  MPI_Comm_free(&node);
  int first = rank == 0 ? 1 : 0, count = 0;
  MPI_Allreduce(&first, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return count;
}
std::string distributed_job::mpi_version() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, std::size_t(length));
  return all.substr(0, all.find_first_of(",\n"));
}
std::uint64_t distributed_job::same_on_all(std::uint64_t of_rank_0) const {
  MPI_Bcast(&of_rank_0, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  return of_rank_0;
}

std::vector<distributed_result> distributed_job::measure(const distributed_case& c,
                                                         const distributed_run& run) {
  const bool takes_part = rank() < c.ranks();
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, takes_part ? 0 : MPI_UNDEFINED, rank(), &comm);
  std::vector<distributed_result> results;
  if (takes_part) {
    visit_type_over_ranks(c.problem.type,
                          [&](auto types) { results = measurement<decltype(types)>(c, run, comm)(); });
    MPI_Comm_free(&comm);
  }
  MPI_Request all_there;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_there);
  for (int done = 0; !done; usleep(1000)) MPI_Test(&all_there, &done, MPI_STATUS_IGNORE);
  return results;
}

void distributed_job::abort() {
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::_Exit(1);
}

}  // namespace keramos::perf
